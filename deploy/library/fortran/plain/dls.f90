! SPDX-License-Identifier: MIT
! `use DLS` for programs that declare the variables of their loop themselves, as those in DLS4LB's README do: without
! the variables of ../dls.f90.
module DLS
  use dls4lb_calls
  implicit none
end module DLS
