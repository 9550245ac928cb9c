! SPDX-License-Identifier: MIT
! The number pi by the ranks of an MPI program, which share the loop:
!
!     mpifort pi.f90 $(pkg-config --cflags --libs hdss-fortran) -o pi && mpirun -n 3 ./pi
program pi
  use hdss
  use mpi
  implicit none
  integer, parameter :: n = 10000000
  type(hdss_shared_loop) :: loop
  integer :: first, count, i, rank, status, error
  double precision :: x, mine, total

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  if (hdss_loop_new(MPI_COMM_WORLD, n, loop) /= HDSS_OK) call MPI_Abort(MPI_COMM_WORLD, 1, error)
  mine = 0
  do while (hdss_loop_next(loop, first, count) > 0)
    do i = first + 1, first + count
      x = (i - 0.5d0) / n
      mine = mine + 4 / (1 + x * x) / n
    end do
  end do
  status = hdss_loop_free(loop)
  call MPI_Reduce(mine, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, error)
  if (rank == 0) print '(A,F8.6)', 'pi is ', total
  call MPI_Finalize(error)
end program
