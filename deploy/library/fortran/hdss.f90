! SPDX-License-Identifier: MIT
! The library for MPI programs, for Fortran: the calls of hdss/hdss.h under the same names. Ranges begin at 0, as in C:
!
!     use hdss
!     type(hdss_shared_loop) :: loop
!     status = hdss_loop_new(MPI_COMM_WORLD, n, loop)
!     do while (hdss_loop_next(loop, first, count) > 0)
!       do i = first + 1, first + count     ! of 1 .. n
!       ...
!     end do
!     status = hdss_loop_free(loop)
!
! Numbers of iterations are integers of 4 or 8 bytes, those of one call alike. See hdss_loop_new(3).
module hdss
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int32, int64
  implicit none
  private

  public :: hdss_options, hdss_shared_loop, hdss_stats, hdss_totals
  public :: hdss_error_text, hdss_version
  public :: hdss_options_new, hdss_options_free, hdss_options_set, hdss_options_set_powers, hdss_options_error
  public :: hdss_loop_new, hdss_loop_next, hdss_loop_progress, hdss_loop_link, hdss_loop_again, hdss_loop_free
  public :: hdss_loop_error, hdss_loop_stats, hdss_loop_totals

  ! What calls return: 0 or more when all is well, else one of these.
  integer, parameter, public :: HDSS_OK = 0, HDSS_ERROR_USE = -1, HDSS_ERROR_MPI = -2, HDSS_ERROR_COMM = -3, &
                                HDSS_ERROR_COUNT = -4, HDSS_ERROR_OPTION = -5, HDSS_ERROR_TECHNIQUE = -6, &
                                HDSS_ERROR_DIFFERENT = -7, HDSS_ERROR_ENDED = -8, HDSS_ERROR_MEMORY = -9, &
                                HDSS_ERROR_REPORT = -10

  ! Copies name the same object.
  type :: hdss_options
    type(c_ptr), private :: object = c_null_ptr
  end type

  type :: hdss_shared_loop
    type(c_ptr), private :: object = c_null_ptr
  end type

  type, bind(c) :: hdss_stats
    integer(c_int64_t) :: iterations, chunks, pieces
    real(c_double) :: compute_s, wait_s
  end type

  type, bind(c) :: hdss_totals
    integer(c_int64_t) :: iterations, chunks, messages
    real(c_double) :: elapsed_s, compute_s, efficiency, max_over_mean
  end type

  interface hdss_loop_new
    module procedure loop_new_int32, loop_new_int64
  end interface

  interface hdss_loop_next
    module procedure loop_next_int32, loop_next_int64
  end interface

  interface hdss_loop_again
    module procedure loop_again_int32, loop_again_int64
  end interface

  interface
    function c_error_text(status) bind(c, name='hdss_error_text') result(text)
      import :: c_ptr, c_int
      integer(c_int), value :: status
      type(c_ptr) :: text
    end function

    function c_version() bind(c, name='hdss_version') result(text)
      import :: c_ptr
      type(c_ptr) :: text
    end function

    function c_options_new() bind(c, name='hdss_options_new') result(options)
      import :: c_ptr
      type(c_ptr) :: options
    end function

    subroutine c_options_free(options) bind(c, name='hdss_options_free')
      import :: c_ptr
      type(c_ptr), value :: options
    end subroutine

    function c_options_set(options, name, value) bind(c, name='hdss_options_set') result(status)
      import :: c_ptr, c_int, c_char
      type(c_ptr), value :: options
      character(kind=c_char), intent(in) :: name(*), value(*)
      integer(c_int) :: status
    end function

    function c_options_set_powers(options, powers, count) bind(c, name='hdss_options_set_powers') result(status)
      import :: c_ptr, c_int, c_double
      type(c_ptr), value :: options
      real(c_double), intent(in) :: powers(*)
      integer(c_int), value :: count
      integer(c_int) :: status
    end function

    function c_options_error(options) bind(c, name='hdss_options_error') result(text)
      import :: c_ptr
      type(c_ptr), value :: options
      type(c_ptr) :: text
    end function

    function c_loop_new(comm, iterations, options, loop) bind(c, name='hdss_fortran_loop_new') result(status)
      import :: c_ptr, c_int, c_int64_t
      integer(c_int), value :: comm
      integer(c_int64_t), value :: iterations
      type(c_ptr), value :: options
      type(c_ptr), intent(out) :: loop
      integer(c_int) :: status
    end function

    function c_loop_next(loop, first, count) bind(c, name='hdss_loop_next') result(status)
      import :: c_ptr, c_int, c_int64_t
      type(c_ptr), value :: loop
      integer(c_int64_t), intent(out) :: first, count
      integer(c_int) :: status
    end function

    function c_loop_progress(loop) bind(c, name='hdss_loop_progress') result(status)
      import :: c_ptr, c_int
      type(c_ptr), value :: loop
      integer(c_int) :: status
    end function

    function c_loop_link(loop, other) bind(c, name='hdss_loop_link') result(status)
      import :: c_ptr, c_int
      type(c_ptr), value :: loop, other
      integer(c_int) :: status
    end function

    function c_loop_again(loop, iterations) bind(c, name='hdss_loop_again') result(status)
      import :: c_ptr, c_int, c_int64_t
      type(c_ptr), value :: loop
      integer(c_int64_t), value :: iterations
      integer(c_int) :: status
    end function

    function c_loop_free(loop) bind(c, name='hdss_loop_free') result(status)
      import :: c_ptr, c_int
      type(c_ptr), intent(inout) :: loop
      integer(c_int) :: status
    end function

    function c_loop_error(loop) bind(c, name='hdss_loop_error') result(text)
      import :: c_ptr
      type(c_ptr), value :: loop
      type(c_ptr) :: text
    end function

    function c_loop_stats(loop, stats, size) bind(c, name='hdss_loop_stats') result(status)
      import :: c_ptr, c_int, c_size_t, hdss_stats
      type(c_ptr), value :: loop
      type(hdss_stats), intent(out) :: stats
      integer(c_size_t), value :: size
      integer(c_int) :: status
    end function

    function c_loop_totals(loop, totals, size) bind(c, name='hdss_loop_totals') result(status)
      import :: c_ptr, c_int, c_size_t, hdss_totals
      type(c_ptr), value :: loop
      type(hdss_totals), intent(out) :: totals
      integer(c_size_t), value :: size
      integer(c_int) :: status
    end function

    pure function c_string_length(text) bind(c, name='strlen') result(length)
      import :: c_ptr, c_size_t
      type(c_ptr), value, intent(in) :: text
      integer(c_size_t) :: length
    end function
  end interface

contains

  ! A string of C as one of Fortran.
  function as_text(string) result(text)
    type(c_ptr), intent(in) :: string
    character(len=:), allocatable :: text
    character(kind=c_char), pointer :: letters(:)
    integer :: i
    call c_f_pointer(string, letters, [c_string_length(string)])
    allocate (character(len=size(letters)) :: text)
    do i = 1, size(letters)
      text(i:i) = letters(i)
    end do
  end function

  ! The meaning of a status in a few words.
  function hdss_error_text(status) result(text)
    integer, intent(in) :: status
    character(len=:), allocatable :: text
    text = as_text(c_error_text(int(status, c_int)))
  end function

  ! The library's version, as "1.2.3".
  function hdss_version() result(text)
    character(len=:), allocatable :: text
    text = as_text(c_version())
  end function

  ! Options with everything at its default.
  function hdss_options_new() result(options)
    type(hdss_options) :: options
    options%object = c_options_new()
  end function

  subroutine hdss_options_free(options)
    type(hdss_options), intent(inout) :: options
    call c_options_free(options%object)
    options%object = c_null_ptr
  end subroutine

  ! Sets one option, as on a command line: 'technique' to 'css:chunk=80'. Blanks at the ends of the words do not count.
  integer function hdss_options_set(options, name, value) result(status)
    type(hdss_options), intent(in) :: options
    character(len=*), intent(in) :: name, value
    status = c_options_set(options%object, trim(name)//c_null_char, trim(value)//c_null_char)
  end function

  ! Sets the speeds of the ranks, one number each, in any unit. Those of rank 0 count.
  integer function hdss_options_set_powers(options, powers) result(status)
    type(hdss_options), intent(in) :: options
    real(c_double), intent(in) :: powers(:)
    status = c_options_set_powers(options%object, powers, size(powers))
  end function

  ! The latest error in one line; empty if there was none.
  function hdss_options_error(options) result(text)
    type(hdss_options), intent(in) :: options
    character(len=:), allocatable :: text
    text = as_text(c_options_error(options%object))
  end function

  integer function loop_new_int64(comm, iterations, loop, options) result(status)
    integer, intent(in) :: comm
    integer(int64), intent(in) :: iterations
    type(hdss_shared_loop), intent(out) :: loop
    type(hdss_options), intent(in), optional :: options
    type(c_ptr) :: given
    given = c_null_ptr
    if (present(options)) given = options%object
    status = c_loop_new(comm, iterations, given, loop%object)
  end function

  integer function loop_new_int32(comm, iterations, loop, options) result(status)
    integer, intent(in) :: comm
    integer(int32), intent(in) :: iterations
    type(hdss_shared_loop), intent(out) :: loop
    type(hdss_options), intent(in), optional :: options
    status = loop_new_int64(comm, int(iterations, int64), loop, options)
  end function

  integer function loop_next_int64(loop, first, count) result(status)
    type(hdss_shared_loop), intent(in) :: loop
    integer(int64), intent(out) :: first, count
    first = 0
    count = 0
    status = c_loop_next(loop%object, first, count)
  end function

  ! For loops that were begun with a number of 4 bytes, whose ranges fit as well.
  integer function loop_next_int32(loop, first, count) result(status)
    type(hdss_shared_loop), intent(in) :: loop
    integer(int32), intent(out) :: first, count
    integer(int64) :: wide_first, wide_count
    status = loop_next_int64(loop, wide_first, wide_count)
    first = int(wide_first, int32)
    count = int(wide_count, int32)
  end function

  ! Answers other ranks that wait for this one, if there are any.
  integer function hdss_loop_progress(loop) result(status)
    type(hdss_shared_loop), intent(in) :: loop
    status = c_loop_progress(loop%object)
  end function

  ! From now on waiting in one of the two loops answers ranks that wait in the other.
  integer function hdss_loop_link(loop, other) result(status)
    type(hdss_shared_loop), intent(in) :: loop, other
    status = c_loop_link(loop%object, other%object)
  end function

  integer function loop_again_int64(loop, iterations) result(status)
    type(hdss_shared_loop), intent(in) :: loop
    integer(int64), intent(in) :: iterations
    status = c_loop_again(loop%object, iterations)
  end function

  integer function loop_again_int32(loop, iterations) result(status)
    type(hdss_shared_loop), intent(in) :: loop
    integer(int32), intent(in) :: iterations
    status = loop_again_int64(loop, int(iterations, int64))
  end function

  ! Ends the loop, on all ranks together.
  integer function hdss_loop_free(loop) result(status)
    type(hdss_shared_loop), intent(inout) :: loop
    status = c_loop_free(loop%object)
  end function

  ! The latest error in one line; empty if there was none.
  function hdss_loop_error(loop) result(text)
    type(hdss_shared_loop), intent(in) :: loop
    character(len=:), allocatable :: text
    text = as_text(c_loop_error(loop%object))
  end function

  ! Figures of this rank in this time step, at any time.
  integer function hdss_loop_stats(loop, stats) result(status)
    type(hdss_shared_loop), intent(in) :: loop
    type(hdss_stats), intent(out) :: stats
    status = c_loop_stats(loop%object, stats, c_sizeof(stats))
  end function

  ! Figures of all ranks in this time step, when the loop has ended, on all ranks together.
  integer function hdss_loop_totals(loop, totals) result(status)
    type(hdss_shared_loop), intent(in) :: loop
    type(hdss_totals), intent(out) :: totals
    status = c_loop_totals(loop%object, totals, c_sizeof(totals))
  end function

end module hdss
