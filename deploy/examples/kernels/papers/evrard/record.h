/* SPDX-License-Identifier: MIT */
/* A record of the evrard kernel: the state of a particle, or its fields in the preceding loop of densities. */
#pragma once

enum evrard_field {
    EVRARD_X,
    EVRARD_Y,
    EVRARD_Z,
    EVRARD_VX,
    EVRARD_VY,
    EVRARD_VZ,
    EVRARD_U,
    EVRARD_RHO,
    EVRARD_H,
    EVRARD_POTENTIAL,
    EVRARD_FIELDS,
    /* fields in the loop of densities; place, energy, density and h are as in a state */
    EVRARD_DIVERGENCE = EVRARD_VX,
    EVRARD_CURL = EVRARD_VY,
    EVRARD_OMEGA = EVRARD_VZ,
    EVRARD_NEIGHBOURS = EVRARD_POTENTIAL,
};
