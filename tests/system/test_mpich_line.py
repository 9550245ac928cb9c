# SPDX-License-Identifier: MIT
"""A line written by hand over MPICH gives the checksum that the MPI library of this build gives. HDSS_TEST_MPICH names the folder of a build with
MPICH, of which the ranks are enough."""
import os

from launch import job, main, mpirun_line, run

FOLDER = os.environ.get('HDSS_TEST_MPICH')
LOOP = ['synthetic', 'iterations=2000', 'mean=2']


def ranks(count, role, *words):
    return count, [os.path.join(FOLDER, 'deploy', role), *words]


def test_a_line_gives_the_checksum_of_another_library():
    if FOLDER is None:
        return 'HDSS_TEST_MPICH names no build with MPICH'
    expected = run(job(0, 2, LOOP)).checksum()
    os.environ['MPIRUN'] = 'mpiexec.mpich'
    for masters in ([], [ranks(1, 'master')]):
        result = run(mpirun_line([ranks(1, 'supermaster', *LOOP), *masters, ranks(2, 'worker')]))
        assert result.status == 0 and result.checksum() == expected and not result.err, result
    return None


if __name__ == '__main__':
    main([test_a_line_gives_the_checksum_of_another_library])
