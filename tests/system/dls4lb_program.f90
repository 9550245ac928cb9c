! SPDX-License-Identifier: MIT
! Programs in Fortran as they are written for DLS4LB, for test_dls4lb.py: run by mpirun with any number of ranks.
!
!   dls4lb-program-fortran lengths   every method with short loops and a long one: each iteration exactly once
!   dls4lb-program-fortran fields    what infoDLS and the module hold after the set-up, and parameters
!   dls4lb-program-fortran steps     time steps of a loop whose iterations differ from rank to rank
!   dls4lb-program-fortran nested    a loop in a loop, with groups
!
! One line on standard output when all is well; else one on standard error and status 1.
program dls4lb_program
  use, intrinsic :: iso_fortran_env, only: error_unit
  use DLS
  implicit none
  include 'mpif.h'
  integer :: rank, ranks, error
  character(len=16) :: command

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  call get_command_argument(1, command)
  select case (command)
  case ('lengths')
    call lengths
  case ('fields')
    call fields
  case ('steps')
    call steps
  case ('nested')
    call nested
  case default
    call expect(.false., 'no such command', 0)
  end select
  if (rank == 0) print '(A)', 'ok'
  call MPI_Finalize(error)

contains

  subroutine expect(holds, what, number)
    logical, intent(in) :: holds
    character(len=*), intent(in) :: what
    integer, intent(in) :: number
    if (holds) return
    write (error_unit, '(A,I0,5A,I0,A)') 'dls4lb-program-fortran: rank ', rank, ': ', trim(command), ': ', what, ' (', number, ')'
    call MPI_Abort(MPI_COMM_WORLD, 1, error)
  end subroutine

  ! Runs iterations first .. last with the variables of the module, and counts each.
  subroutine run_loop(first, last, technique, seen)
    integer, intent(in) :: first, last, technique
    integer, intent(inout) :: seen(:)
    integer :: i, mine
    mine = 0
    method = technique
    call DLS_StartLoop(info, first, last, method)
    do while (.not. DLS_Terminated(info))
      call DLS_StartChunk(info, iStart, iSize)
      do i = iStart, iStart + iSize - 1
        call expect(i >= first .and. i <= last, 'an iteration of another loop', i)
        seen(i - first + 1) = seen(i - first + 1) + 1
      end do
      mine = mine + iSize
      call DLS_EndChunk(info)
    end do
    call DLS_EndLoop(info, iIters, iTime)
    call expect(iIters == mine .and. iTime >= 0, 'not the iterations of this rank', iIters)
  end subroutine

  subroutine check_once(seen, technique)
    integer, intent(in) :: seen(:), technique
    integer :: all_seen(size(seen)), i
    call MPI_Allreduce(seen, all_seen, size(seen), MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
    do i = 1, size(seen)
      call expect(all_seen(i) == 1, trim(DLS_LongName(technique))//': not exactly once', i)
    end do
  end subroutine

  subroutine lengths
    integer, parameter :: lengths_of(8) = [1, 2, 3, 4, 5, 7, 64, 1000]
    integer :: technique, i
    integer, allocatable :: seen(:)
    do technique = 0, DLS_MethodCount - 1
      call DLS_Setup(MPI_COMM_WORLD, info)
      if (mod(technique, 2) == 1) info%minChunk = mod(technique, 3)
      if (mod(technique, 4) == 1) info%breakAfter = 2
      if (mod(technique, 4) == 3) info%requestWhen = 3
      do i = 1, size(lengths_of)
        allocate (seen(lengths_of(i)))
        seen = 0
        call run_loop(5, 5 + lengths_of(i) - 1, technique, seen)
        call check_once(seen, technique)
        deallocate (seen)
        call expect(info%timeStep == i .and. info%N == lengths_of(i), 'timeStep or N', info%timeStep)
        if (rank == 0) call expect(info%itersScheduled == info%N .and. info%numChunks > 0, 'itersScheduled', info%itersScheduled)
      end do
      call DLS_Finalize(info)
    end do
  end subroutine

  subroutine fields
    integer :: seen(100), i
    call expect(DLS_Terminated(info), 'a loop before the set-up', 0)
    info%minChunk = 7
    call DLS_Setup(MPI_COMM_WORLD, info)
    call expect(info%comm == MPI_COMM_WORLD .and. info%crew == MPI_COMM_NULL, 'comm or crew', info%comm)
    call expect(info%commSize == ranks .and. info%myRank == rank .and. info%Foreman == 0, 'commSize or myRank', info%commSize)
    call expect(info%firstRank == 0 .and. info%lastRank == ranks - 1, 'the ranks', info%lastRank)
    call expect(info%minChunk == -1 .and. info%breakAfter == -1 .and. info%requestWhen == -1, 'the parameters', info%minChunk)
    call expect(lbound(info%stats, 1) == 0 .and. ubound(info%stats, 1) >= 3*ranks - 1, 'the bounds of stats', ubound(info%stats, 1))
    call expect(lbound(info%weights, 1) == 0 .and. ubound(info%weights, 1) >= ranks - 1, 'the bounds of weights', 0)
    do i = 0, ranks - 1
      call expect(info%stats(3*i) < 0 .and. .not. info%stats(3*i + 2) > 0, 'stats', i)
      call expect(abs(info%weights(i) - 1) < 1d-9, 'weights', i)
    end do
    ! FSC by its formula: 2^(1/2) 100 0.02 / (0.01 P (log P)^(1/2)), to the power 2/3. Few iterations for each of two ranks.
    info%h = 0.02d0
    info%sigma = 0.01d0
    seen = 0
    call run_loop(1, 100, 2, seen)
    call check_once(seen, 2)
    if (rank == 0 .and. ranks == 2) call expect(info%numChunks == 4, 'chunks of FSC', info%numChunks)
    seen = 0
    call run_loop(1, 100, 99, seen)
    call expect(info%method == 0, 'a number that is no method', info%method)
    call DLS_Finalize(info)
    call DLS_Finalize(info)
    call expect(trim(DLS_ShortName(6)) == 'FAC' .and. DLS_MethodCount == 15, 'names', 0)
  end subroutine

  ! Weighted: the first rank has three times the weight of each other.
  subroutine steps
    integer, parameter :: count = 200, techniques(4) = [7, 8, 10, 13]
    integer :: seen(count), i, step
    do i = 1, size(techniques)
      call DLS_Setup(MPI_COMM_WORLD, info)
      info%weights(0:ranks - 1) = dble(ranks)/(ranks + 2)
      info%weights(0) = 3*dble(ranks)/(ranks + 2)
      do step = 1, 3
        seen = 0
        call run_loop(1, count, techniques(i), seen)
        call check_once(seen, techniques(i))
        call expect(info%timeStep == step, 'timeStep', info%timeStep)
      end do
      if (rank == 0) call expect(maxval(info%stats(0:3*ranks - 1:3)) > 0, 'a mean time that is none', i)
      call DLS_Finalize(info)
    end do
  end subroutine

  subroutine nested
    integer, parameter :: rows = 23, columns = 40, outer(3) = [1, 6, 10], inner(3) = [4, 1, 9]
    type(infoDLS) :: jInfo, iInfo
    integer :: seen(columns, rows), all_seen(columns, rows), i, j, k, jStart, jSize, coordinator
    integer :: group_comm, foremen_comm
    do k = 1, size(outer)
      coordinator = mod(k, ranks)
      seen = 0
      call DLS_GroupSetup(MPI_COMM_WORLD, coordinator, jInfo, iInfo)
      call DLS_StartLoop(jInfo, 1, rows, outer(k))
      do while (.not. DLS_Terminated(jInfo))
        call DLS_StartChunk(jInfo, jStart, jSize)
        do j = jStart, jStart + jSize - 1
          call DLS_StartLoop(iInfo, 1, columns - mod(j, 3), inner(k))
          do while (.not. DLS_Terminated(iInfo))
            call DLS_StartChunk(iInfo, iStart, iSize)
            do i = iStart, iStart + iSize - 1
              seen(i, j) = seen(i, j) + 1
            end do
            call DLS_EndChunk(iInfo)
          end do
          call DLS_EndLoop(iInfo, iIters, iTime)
        end do
        call DLS_EndChunk(jInfo)
      end do
      call DLS_EndLoop(jInfo, iIters, iTime)
      call MPI_Allreduce(seen, all_seen, rows*columns, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
      do j = 1, rows
        do i = 1, columns
          call expect(all_seen(i, j) == merge(1, 0, i <= columns - mod(j, 3)), 'not exactly once', i + j*columns)
        end do
      end do
      call DLS_Finalize(iInfo)
      call DLS_Finalize(jInfo)
    end do
    call DLS_Partition(MPI_COMM_WORLD, 0, foremen_comm, group_comm)
    if (ranks > 1) call expect((group_comm == MPI_COMM_NULL) .eqv. (rank == 0), 'the group of the coordinator', group_comm)
    if (rank == 0) call expect(foremen_comm /= MPI_COMM_NULL, 'the foremen of the coordinator', foremen_comm)
    if (foremen_comm /= MPI_COMM_NULL) call MPI_Comm_free(foremen_comm, error)
    if (group_comm /= MPI_COMM_NULL) call MPI_Comm_free(group_comm, error)
  end subroutine

end program
