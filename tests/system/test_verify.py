# SPDX-License-Identifier: MIT
"""Verification: a worker that computes wrongly is found out, the right results take the place of its own, and the run ends with status 1 or goes on
without it; what cannot be verified is refused before anything starts."""
from launch import hdss, main, report, run

LOOP = ['synthetic', 'iterations=400', 'mean=200', 'seed=3']
OUTPUT = ['--output', 'out.bin', '--report', 'report.json', '--power', 'equal', '--progress', 'never', '--technique', 'css:chunk=8']


def output():
    with open('out.bin', 'rb') as file:
        return file.read()


def right():
    result = run(hdss(0, 2, [*OUTPUT, *LOOP]))
    assert result.status == 0 and 'verify' not in report() and 'verified' not in result.out, result
    return result.checksum(), output()


def test_all_or_a_share_is_computed_twice():
    checksum, expected = right()
    for masters, share in ((0, 1), (1, 1), (0, 0.3)):
        result = run(hdss(masters, 3, [*OUTPUT, '--verify', f'{share}:5', '--overwrite', *LOOP]))
        assert result.status == 0 and result.checksum() == checksum and output() == expected, result
        verify = report()['verify']
        assert verify['differing'] == verify['unverified'] == 0 and verify['mismatches'] == [], verify
        assert verify['alike'] == 400 if share == 1 else 40 <= verify['alike'] <= 240, verify
        assert f"verified     {verify['alike']} iterations were computed twice" in result.out, result


def test_the_wrong_results_are_replaced_and_named():
    checksum, expected = right()
    for masters in (0, 1):
        liar = masters + 1
        result = run(hdss(masters, 3, [*OUTPUT, '--verify', '1', '--overwrite', *LOOP, 'wrong=0-399', f'wrong_rank={liar}']))
        assert result.status == 1 and result.checksum() == checksum and output() == expected, result
        verify = report()['verify']
        assert verify['mismatches'] and verify['unverified'] == 0, verify
        assert all(one['wrong'] == liar and len(one['workers']) == 3 and liar in one['workers'][:2] for one in verify['mismatches']), verify
        assert any(f'rank {liar} is wrong' in line for line in result.err), result


def test_who_is_wrong_is_dropped():
    checksum, expected = right()
    words = ['--verify', '1', '--verify-action', 'drop-worker', '--overwrite', *LOOP, 'wrong=0-399', 'wrong_rank=2']
    result = run(hdss(0, 3, [*OUTPUT, *words]))
    assert result.status == 0 and result.checksum() == checksum and output() == expected, result
    assert report()['faults']['lost_workers'] == 1, report()
    assert any('two others have computed otherwise: it is taken for lost' in line for line in result.err), result


def test_two_workers_cannot_decide():
    result = run(hdss(0, 2, [*OUTPUT, '--verify', '1', *LOOP, 'wrong=100', 'wrong_rank=1']))
    assert result.status == 1 and any('no other worker could decide' in line for line in result.err), result
    assert [one['wrong'] for one in report()['verify']['mismatches']] == [None], report()


def test_what_cannot_be_verified_is_refused():
    for masters, workers, words, line in (
            (0, 1, LOOP, '--verify: another worker computes what is verified'),
            (2, 2, LOOP, 'has one worker, and no other to verify it'),
            (0, 2, ['floyd-steinberg', 'width=50', 'height=50'], '--verify: the iterations of floyd-steinberg depend on one another'),
            (0, 2, ['exec', 'command=true'], '--verify: iterations of exec do more than yield results')):
        result = run(hdss(masters, workers, ['--verify', '1', *words]))
        told = [text for text in result.err if '--verify: ' in text]
        assert result.status == 2 and len(told) == 1 and line in told[0], (words, str(result))


if __name__ == '__main__':
    main([test for name, test in list(globals().items()) if name.startswith('test_')])
