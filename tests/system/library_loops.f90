! SPDX-License-Identifier: MIT
! Programs in Fortran that share loops by the module hdss, for test_library.py: run by mpirun with any number of ranks.
!
!   library-loops-fortran loops    loops in both sizes of integers, time steps, a loop linked with another, figures
!   library-loops-fortran errors   what is refused, and the texts of errors
!
! One line on standard output when all is well; else one on standard error and status 1.
program library_loops
  use, intrinsic :: iso_fortran_env, only: error_unit, int32, int64
  use hdss
  implicit none
  include 'mpif.h'
  integer :: rank, ranks, error
  character(len=16) :: command

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  call get_command_argument(1, command)
  select case (command)
  case ('loops')
    call loops
  case ('errors')
    call errors
  case default
    call expect(.false., 'no such command')
  end select
  if (rank == 0) print '(A)', 'ok'
  call MPI_Finalize(error)

contains

  subroutine expect(holds, what)
    logical, intent(in) :: holds
    character(len=*), intent(in) :: what
    if (holds) return
    write (error_unit, '(A,I0,4A)') 'library-loops-fortran: rank ', rank, ': ', trim(command), ': ', what
    call MPI_Abort(MPI_COMM_WORLD, 1, error)
  end subroutine

  ! Draws all of the loop. Every index of 1 .. n must come exactly once.
  subroutine run_loop(loop, n)
    type(hdss_shared_loop), intent(in) :: loop
    integer(int32), intent(in) :: n
    integer(int64) :: seen(n), all_seen(n)
    integer(int32) :: first, count
    seen = 0
    do while (hdss_loop_next(loop, first, count) > 0)
      call expect(first >= 0 .and. first + count <= n, 'a range outside of the loop')
      seen(first + 1:first + count) = seen(first + 1:first + count) + 1
      call expect(hdss_loop_progress(loop) >= 0, 'hdss_loop_progress')
    end do
    call MPI_Allreduce(seen, all_seen, n, MPI_INTEGER8, MPI_SUM, MPI_COMM_WORLD, error)
    call expect(all(all_seen == 1), 'not exactly once')
  end subroutine

  subroutine loops
    type(hdss_options) :: options
    type(hdss_shared_loop) :: loop, other
    type(hdss_stats) :: stats
    type(hdss_totals) :: totals
    integer(int64) :: first, count, mine(1), total(1)
    double precision :: powers(ranks)
    options = hdss_options_new()
    powers = 1
    powers(1) = 2
    call expect(hdss_options_set(options, 'technique', 'wf') == HDSS_OK, 'hdss_options_set')
    call expect(hdss_options_set_powers(options, powers) == HDSS_OK, 'hdss_options_set_powers')
    call expect(hdss_loop_new(MPI_COMM_WORLD, 1000, loop, options) == HDSS_OK, 'hdss_loop_new')
    call hdss_options_free(options)
    call run_loop(loop, 1000)
    call expect(hdss_loop_stats(loop, stats) == HDSS_OK, 'hdss_loop_stats')
    mine = stats%iterations
    call MPI_Allreduce(mine, total, 1, MPI_INTEGER8, MPI_SUM, MPI_COMM_WORLD, error)
    call expect(total(1) == 1000 .and. stats%compute_s >= 0, 'the figures of the ranks')
    call expect(hdss_loop_totals(loop, totals) == HDSS_OK, 'hdss_loop_totals')
    call expect(totals%iterations == 1000 .and. totals%efficiency > 0, 'the figures of all ranks')
    call expect(hdss_loop_again(loop, 77) == HDSS_OK, 'hdss_loop_again')
    call run_loop(loop, 77)
    call expect(hdss_loop_free(loop) == HDSS_OK, 'hdss_loop_free')

    ! More than an integer of 4 bytes can count.
    mine = 0
    call expect(hdss_loop_new(MPI_COMM_WORLD, 6000000000_int64, loop) == HDSS_OK, 'hdss_loop_new of a long loop')
    call expect(hdss_loop_new(MPI_COMM_WORLD, 3, other) == HDSS_OK, 'hdss_loop_new of a second loop')
    call expect(hdss_loop_link(loop, other) == HDSS_OK, 'hdss_loop_link')
    do while (hdss_loop_next(loop, first, count) > 0)
      mine = mine + count
    end do
    call run_loop(other, 3)
    call MPI_Allreduce(mine, total, 1, MPI_INTEGER8, MPI_SUM, MPI_COMM_WORLD, error)
    call expect(total(1) == 6000000000_int64, 'iterations of a long loop')
    call expect(hdss_loop_free(other) == HDSS_OK, 'hdss_loop_free of the second loop')
    call expect(hdss_loop_free(loop) == HDSS_OK, 'hdss_loop_free of the long loop')
  end subroutine

  subroutine errors
    type(hdss_options) :: options
    type(hdss_shared_loop) :: loop
    options = hdss_options_new()
    call expect(hdss_options_set(options, 'technique', 'gsss') == HDSS_ERROR_OPTION, 'a technique that does not exist')
    call expect(index(hdss_options_error(options), 'gsss') > 0, 'hdss_options_error: '//hdss_options_error(options))
    call hdss_options_free(options)
    call expect(hdss_loop_new(MPI_COMM_WORLD, -1, loop) == HDSS_ERROR_COUNT, 'a number of iterations below 0')
    call expect(hdss_loop_new(MPI_COMM_NULL, 1, loop) == HDSS_ERROR_COMM, 'no communicator')
    call expect(hdss_loop_free(loop) == HDSS_ERROR_USE, 'a loop that does not exist')
    call expect(len(hdss_loop_error(loop)) > 0, 'hdss_loop_error of a loop that does not exist')
    call expect(len(hdss_error_text(HDSS_ERROR_COUNT)) > 0, 'hdss_error_text')
    call expect(verify(hdss_version(), '0123456789.') == 0, 'hdss_version: '//hdss_version())
  end subroutine

end program
