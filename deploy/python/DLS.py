# SPDX-License-Identifier: MIT
"""``import DLS``, as programs for the Python branch of DLS4LB have it: the calls are those of hdss.DLS."""
from hdss.DLS import DLS_EndChunk, DLS_EndLoop, DLS_Schedulers, DLS_StartChunk, DLS_Terminated, StartLoop, infoDLS

__all__ = ['DLS_EndChunk', 'DLS_EndLoop', 'DLS_Schedulers', 'DLS_StartChunk', 'DLS_Terminated', 'StartLoop', 'infoDLS']
