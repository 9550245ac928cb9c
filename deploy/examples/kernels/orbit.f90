! SPDX-License-Identifier: MIT
! The loop body of a kernel in Fortran: orbit.c declares it to HDSS.
!
! An iteration is a value r of the logistic map x -> r x (1 - x); it yields the values that x comes to after a while.
!
!     gfortran -O2 -shared -fPIC $(pkg-config --cflags hdss-kernel) orbit.f90 orbit.c -o orbit.so
!     hdss run ./orbit.so columns=2000 --output orbit.npy
module orbit
  use, intrinsic :: iso_c_binding, only: c_int, c_int64_t, c_double
  implicit none

contains

  ! Iterations first .. first + count - 1 (they count from 0) of `columns`: kept values each, one column after another.
  function orbit_run(first, count, columns, kept, skipped, x) result(status) bind(c, name='orbit_run')
    integer(c_int64_t), value :: first, count, columns, kept, skipped
    real(c_double), intent(out) :: x(kept, count)
    integer(c_int) :: status
    integer(c_int64_t) :: i, k
    real(c_double) :: r, value

    do i = 1, count
      r = 2.5_c_double + 1.5_c_double * real(first + i - 1, c_double) / real(max(columns - 1, 1_c_int64_t), c_double)
      value = 0.5_c_double
      do k = 1, skipped
        value = r * value * (1 - value)
      end do
      do k = 1, kept
        value = r * value * (1 - value)
        x(k, i) = value
      end do
    end do
    status = merge(0_c_int, -1_c_int, all(x >= 0))
  end function orbit_run

end module orbit
