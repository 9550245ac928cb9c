! SPDX-License-Identifier: MIT
! `use DLS`, as programs for DLS4LB have it. The original's module has variables, too, which its application keeps its
! loop in, and so a program that declares an `info` of its own is refused. plain/dls.f90 is without them.
module DLS
  use dls4lb_calls
  implicit none

  type(infoDLS), save :: info
  integer, save :: method, iStart, iSize
  integer, save :: iIters
  double precision, save :: iTime
  integer, save :: npini_BAK, npend_BAK
  double precision, save :: tgrav1, tgrav2
end module DLS
