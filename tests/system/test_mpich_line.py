# SPDX-License-Identifier: MIT
"""The same programs under another library's launcher: a line written by hand over MPICH gives the checksum that the default library gives, and
hdss run takes MPICH where it is told so."""
import os
import shutil

from launch import HDSS, MASTER, SUPERMASTER, WORKER, job, main, mpirun_line, run

LOOP = ['synthetic', 'iterations=2000', 'mean=2']
HAS_BOTH = all(os.path.exists(f'{os.path.dirname(HDSS)}/carrier-{name}.so') for name in ('openmpi', 'mpich')) and shutil.which('mpiexec.mpich')


def test_a_line_gives_the_checksum_of_another_library():
    if not HAS_BOTH:
        return 'there are no carriers for both libraries, or no mpiexec.mpich'
    expected = run(job(0, 2, LOOP)).checksum()
    os.environ['MPIRUN'] = 'mpiexec.mpich'
    for masters in ([], [(1, [MASTER])]):
        result = run(mpirun_line([(1, [SUPERMASTER, *LOOP]), *masters, (2, [WORKER])]))
        assert result.status == 0 and result.checksum() == expected and not result.err, result
    result = run([HDSS, 'run', '--mpirun', 'mpiexec.mpich', '--workers', '2', *LOOP])
    assert result.status == 0 and result.checksum() == expected and not result.err, result
    return None


if __name__ == '__main__':
    main([test_a_line_gives_the_checksum_of_another_library])
