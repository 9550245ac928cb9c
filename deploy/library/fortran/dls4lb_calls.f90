! SPDX-License-Identifier: MIT
! The calls of DLS4LB for Fortran, on top of those for C. The module DLS (dls.f90) hands them on, by the names, the
! arguments and the fields of infoDLS that programs for DLS4LB know; the code is not theirs.
module dls4lb_calls
  use, intrinsic :: iso_c_binding
  implicit none
  private

  public :: infoDLS
  public :: DLS_MethodCount, DLS_LongName, DLS_ShortName
  public :: DLS_Partition, DLS_GroupSetup, DLS_Setup, DLS_Terminated
  public :: DLS_StartLoop, DLS_StartChunk, DLS_EndChunk, DLS_EndLoop
  public :: DLS_Finalize

  integer, parameter :: DLS_MethodCount = 15

  character(len=25), dimension(0:DLS_MethodCount - 1), parameter :: DLS_LongName = [character(len=25) :: &
    'STATIC', 'SELF-SCHEDULING', 'FIXED SIZE CHUNKING', 'MODIFIED FSC', 'GUIDED SELF-SCHEDULING', &
    'TRAPEZOID SELF-SCHEDULING', 'FACTORING', 'WEIGHTED FACTORING', 'ADAPTIVE WEIGHTED FAC.', 'AWF-B (BATCH)', &
    'AWF-C (CHUNK)', 'AWF-D (BATCH, ALL TIME)', 'AWF-E (CHUNK, ALL TIME)', 'ADAPTIVE FACTORING', 'SELECTED (AUTO)']

  character(len=5), dimension(0:DLS_MethodCount - 1), parameter :: DLS_ShortName = [character(len=5) :: &
    'STAT', 'SS', 'FSC', 'MFSC', 'GSS', 'TSS', 'FAC', 'WF', 'AWF', 'AWFB', 'AWFC', 'AWFD', 'AWFE', 'AF', 'SimAS']

  ! Those that are read when a loop starts come first; they may be changed before. The others are for reading.
  type :: infoDLS
    integer :: minChunk = -1                ! smallest chunk; 0 or less: half of MFSC's. For GSS and all after it
    integer :: breakAfter = -1              ! iterations of rank 0 between two looks at the others; below 0: by time
    integer :: requestWhen = -1             ! iterations left when the next chunk is asked for; below 0: 15 % of the chunk
    double precision :: sigma = 0.0001d0    ! for FSC
    double precision :: h = 0.0002d0        ! for FSC
    double precision, allocatable, dimension(:) :: weights ! from 0, of each rank, mean 1, for WF; of AWF those learned
    integer :: comm = 0, crew = 0           ! as in DLS.h
    integer :: Foreman = 0, myRank = -1
    integer :: firstRank = 0, lastRank = -1
    integer :: commSize = 0, crewSize = 0
    integer :: method = 0
    integer :: FirstIter = 0, LastIter = -1, N = 0
    integer :: itersScheduled = 0
    integer :: timeStep = 0
    integer :: chunkStart = 0
    integer :: numChunks = 0
    integer :: subChunkSize = 0
    integer :: myIters = 0
    double precision :: workTime = 0
    double precision, allocatable, dimension(:) :: stats ! from 0, three for each rank, as in DLS.h
    type(c_ptr), private :: own = c_null_ptr             ! the infoDLS of C
  end type

  ! As in binding.c.
  type, bind(c) :: dls4lb_fields
    integer(c_int) :: comm, crew, foreman, my_rank, first_rank, last_rank, comm_size, crew_size
    integer(c_int) :: method, first_iteration, last_iteration, iterations, iterations_scheduled, time_step
    integer(c_int) :: chunk_start, chunks, piece_size, own_iterations
    real(c_double) :: work_s
  end type

  type, bind(c) :: dls4lb_parameters
    integer(c_int) :: min_chunk, break_after, request_when
    real(c_double) :: h_s, sigma_s
  end type

  interface
    function c_new(comm) bind(c, name='dls4lb_fortran_new') result(info)
      import :: c_ptr, c_int
      integer(c_int), value :: comm
      type(c_ptr) :: info
    end function

    subroutine c_new_groups(world, coordinator, outer, inner) bind(c, name='dls4lb_fortran_new_groups')
      import :: c_ptr, c_int
      integer(c_int), value :: world, coordinator
      type(c_ptr), intent(out) :: outer, inner
    end subroutine

    subroutine c_copy_group_comms(outer, inner, outer_comm, inner_comm) bind(c, name='dls4lb_fortran_copy_group_comms')
      import :: c_ptr, c_int
      type(c_ptr), value :: outer, inner
      integer(c_int), intent(out) :: outer_comm, inner_comm
    end subroutine

    subroutine c_free(info) bind(c, name='dls4lb_fortran_free')
      import :: c_ptr
      type(c_ptr), value :: info
    end subroutine

    subroutine c_read(info, fields, stats, weights) bind(c, name='dls4lb_fortran_read')
      import :: c_ptr, c_double, dls4lb_fields
      type(c_ptr), value :: info
      type(dls4lb_fields), intent(out) :: fields
      real(c_double), intent(inout), optional :: stats(*), weights(*)
    end subroutine

    subroutine c_write(info, parameters, weights) bind(c, name='dls4lb_fortran_write')
      import :: c_ptr, c_double, dls4lb_parameters
      type(c_ptr), value :: info
      type(dls4lb_parameters), intent(in) :: parameters
      real(c_double), intent(in), optional :: weights(*)
    end subroutine

    subroutine c_start_loop(info, first, last, method) bind(c, name='DLS_StartLoop')
      import :: c_ptr, c_int
      type(c_ptr), value :: info
      integer(c_int), value :: first, last, method
    end subroutine

    function c_terminated(info) bind(c, name='DLS_Terminated') result(ended)
      import :: c_ptr, c_int
      type(c_ptr), value :: info
      integer(c_int) :: ended
    end function

    subroutine c_start_chunk(info, start, size) bind(c, name='DLS_StartChunk')
      import :: c_ptr, c_int
      type(c_ptr), value :: info
      integer(c_int), intent(out) :: start, size
    end subroutine

    subroutine c_end_chunk(info) bind(c, name='DLS_EndChunk')
      import :: c_ptr
      type(c_ptr), value :: info
    end subroutine

    subroutine c_end_loop(info, iterations, seconds) bind(c, name='DLS_EndLoop')
      import :: c_ptr, c_int, c_double
      type(c_ptr), value :: info
      integer(c_int), intent(out) :: iterations
      real(c_double), intent(out) :: seconds
    end subroutine
  end interface

contains

  ! Fills in what the library knows; the parameters stay the program's.
  subroutine take(info, has_arrays)
    type(infoDLS), intent(inout) :: info
    logical, intent(in) :: has_arrays
    type(dls4lb_fields) :: f
    if (has_arrays) then
      call c_read(info%own, f, info%stats, info%weights)
    else
      call c_read(info%own, f)
    end if
    info%comm = f%comm
    info%crew = f%crew
    info%Foreman = f%foreman
    info%myRank = f%my_rank
    info%firstRank = f%first_rank
    info%lastRank = f%last_rank
    info%commSize = f%comm_size
    info%crewSize = f%crew_size
    info%method = f%method
    info%FirstIter = f%first_iteration
    info%LastIter = f%last_iteration
    info%N = f%iterations
    info%itersScheduled = f%iterations_scheduled
    info%timeStep = f%time_step
    info%chunkStart = f%chunk_start
    info%numChunks = f%chunks
    info%subChunkSize = f%piece_size
    info%myIters = f%own_iterations
    info%workTime = f%work_s
  end subroutine

  ! The arrays have one number more than they need, as the original's, which programs may go through to their ends.
  subroutine begin_info(info)
    type(infoDLS), intent(inout) :: info
    integer :: ranks
    call take(info, .false.)
    ranks = max(info%commSize, info%lastRank + 1)
    allocate (info%stats(0:3*ranks), info%weights(0:ranks))
    info%stats = 0
    info%weights = 1
    call take(info, .true.)
  end subroutine

  subroutine DLS_Setup(icomm, info)
    integer, intent(in) :: icomm
    type(infoDLS), intent(out) :: info
    info%own = c_new(icomm)
    call begin_info(info)
  end subroutine

  subroutine DLS_GroupSetup(world, coordinator, GS, LS)
    integer, intent(in) :: world, coordinator
    type(infoDLS), intent(out) :: GS, LS
    call c_new_groups(world, coordinator, GS%own, LS%own)
    call begin_info(GS)
    call begin_info(LS)
  end subroutine

  ! The groups alone, for a program that makes its own loops in them: the foremen's communicator and that of the group.
  subroutine DLS_Partition(world, coordinator, jcomm, icomm)
    integer, intent(in) :: world, coordinator
    integer, intent(out) :: jcomm, icomm
    type(c_ptr) :: outer, inner
    call c_new_groups(world, coordinator, outer, inner)
    call c_copy_group_comms(outer, inner, jcomm, icomm)
    call c_free(inner)
    call c_free(outer)
  end subroutine

  subroutine DLS_StartLoop(info, firstIter, lastIter, imeth)
    integer, intent(in) :: firstIter, lastIter, imeth
    type(infoDLS), intent(inout) :: info
    type(dls4lb_parameters) :: p
    if (.not. c_associated(info%own)) return
    p = dls4lb_parameters(info%minChunk, info%breakAfter, info%requestWhen, info%h, info%sigma)
    call c_write(info%own, p, info%weights)
    call c_start_loop(info%own, firstIter, lastIter, imeth)
    call take(info, .true.)
  end subroutine

  logical function DLS_Terminated(info)
    type(infoDLS), intent(in) :: info
    DLS_Terminated = .true.
    if (c_associated(info%own)) DLS_Terminated = c_terminated(info%own) /= 0
  end function

  subroutine DLS_StartChunk(info, chunkStart, chunkSize)
    type(infoDLS), intent(inout) :: info
    integer, intent(out) :: chunkStart, chunkSize
    chunkStart = info%LastIter
    chunkSize = 0
    if (.not. c_associated(info%own)) return
    call c_start_chunk(info%own, chunkStart, chunkSize)
    info%chunkStart = chunkStart
    info%subChunkSize = chunkSize
  end subroutine

  subroutine DLS_EndChunk(info)
    type(infoDLS), intent(inout) :: info
    if (.not. c_associated(info%own)) return
    call c_end_chunk(info%own)
    call take(info, .false.)
  end subroutine

  subroutine DLS_EndLoop(info, niters, worktime)
    type(infoDLS), intent(inout) :: info
    integer, intent(out) :: niters
    double precision, intent(out) :: worktime
    niters = 0
    worktime = 0
    if (.not. c_associated(info%own)) return
    call c_end_loop(info%own, niters, worktime)
    call take(info, .true.)
  end subroutine

  subroutine DLS_Finalize(info)
    type(infoDLS), intent(inout) :: info
    if (.not. c_associated(info%own)) return
    call c_free(info%own)
    info%own = c_null_ptr
    deallocate (info%stats, info%weights)
  end subroutine

end module dls4lb_calls
