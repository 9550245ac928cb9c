/* SPDX-License-Identifier: MIT */
/* A record of the evrard kernel: a particle's state or, in the loop of densities, the results of that loop. */
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
    /* Fields that have another meaning in the loop of densities. X to Z, U, RHO and H mean the same as in a state. */
    EVRARD_DIVERGENCE = EVRARD_VX,
    EVRARD_CURL = EVRARD_VY,
    EVRARD_OMEGA = EVRARD_VZ,
    EVRARD_NEIGHBOURS = EVRARD_POTENTIAL,
};
