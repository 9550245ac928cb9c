# SPDX-License-Identifier: MIT
"""joblib's own tests of its backends pass with HDSS."""
import os
import xml.etree.ElementTree

from launch import main
from pythons import PACKAGE, obstacle, python_with, run_python

SYSTEM = os.path.join(os.environ['SOURCE_ROOT'], 'tests/system')


def test_joblibs_own_tests():
    """joblib/test/test_parallel.py as it is installed, by a plugin that puts HDSS in the place of joblib's backends of processes."""
    python, why = python_with('cloudpickle', 'pytest', 'joblib.test.test_parallel')
    if python is None or obstacle() is not None:
        return why or obstacle()
    os.mkdir('site')
    words = ['-m', 'pytest', '-p', 'joblib_plugin', '-p', 'no:cacheprovider', '--tb=short', '-q', '--junitxml=report.xml', '--basetemp=pytest',
             '--pyargs', 'joblib.test.test_parallel']
    result = run_python(python, words, PYTHONPATH=os.pathsep.join([PACKAGE, SYSTEM]), HDSS_TEST_SITE=os.path.abspath('site'))
    assert result.status == 0, result
    cases = list(xml.etree.ElementTree.parse('report.xml').iter('testcase'))
    passed = [case for case in cases if len(case) == 0 or case[0].tag not in ('skipped', 'failure', 'error')]
    ours = [case for case in passed if 'hdss' in case.get('name')]
    print(f'# {len(passed)} of {len(cases)} passed, {len(ours)} of them name HDSS')
    assert len(passed) >= 90 and len(ours) >= 42, result
    return None


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
