! SPDX-License-Identifier: MIT
! A program that declares the variables of its loop itself, for test_dls4lb.py: each rank adds up what it computes.
program dls4lb_plain
  use DLS
  implicit none
  include 'mpif.h'
  integer, parameter :: n = 1000
  type(infoDLS) :: info
  integer :: method, iStart, iSize, iIters, i, rank, error
  double precision :: iTime
  integer :: mine(2), total(2)

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  mine = 0
  method = 6
  call DLS_Setup(MPI_COMM_WORLD, info)
  call DLS_StartLoop(info, 1, n, method)
  do while (.not. DLS_Terminated(info))
    call DLS_StartChunk(info, iStart, iSize)
    do i = iStart, iStart + iSize - 1
      mine(1) = mine(1) + i
    end do
    call DLS_EndChunk(info)
  end do
  call DLS_EndLoop(info, iIters, iTime)
  mine(2) = iIters
  call MPI_Reduce(mine, total, 2, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, error)
  if (rank == 0) print '(I0,A,I0)', total(2), ' iterations, sum ', total(1)
  call DLS_Finalize(info)
  call MPI_Finalize(error)
end program
