# SPDX-License-Identifier: MIT
"""What a study asks HDSS itself, and its checks before anything is started: of each kernel with the options, and of values that suit no loop, no
workers or no platform. This may load code of the user's, in the process that answers (deploy/cli/for_study.c)."""
from __future__ import annotations

import json
import socket
import subprocess
from typing import Any, Callable, Dict, List, Optional, Sequence

from hdss._command import Refusal
from hdss._study_plan import AXES, AXIS, DCA, NO_PLATFORM, Located, Study, is_dca, split


class Engine:
    """`hdss for-study`, which answers questions. Started by the first use; close() ends it."""

    def __init__(self, hdss: str) -> None:
        self.hdss = hdss  # path of the program
        ours, theirs = socket.socketpair()
        with theirs:
            self.process = subprocess.Popen([hdss, 'for-study'], stdin=theirs.fileno())
        self.stream = ours.makefile('rw', encoding='utf-8', errors='surrogateescape')
        ours.close()
        about = self._read()
        self.version, self.commit, self.cores = str(about['version']), str(about['commit']), int(about['cores'])
        self.refused: Sequence[str] = about['refused']

    def close(self) -> None:
        self.stream.close()
        self.process.wait()

    def _read(self) -> Dict[str, Any]:
        line = self.stream.readline()
        if not line:  # the code that it has loaded has ended it, and a line says so
            self.process.wait()
            raise Refusal('what was to be checked has ended the process that checks it')
        answer: Dict[str, Any] = json.loads(line)
        return answer

    def ask(self, *words: str) -> Dict[str, object]:
        """The words of a study have no blanks. Raises Refusal with what is wrong."""
        self.stream.write(' '.join(words) + '\n')
        self.stream.flush()
        answer = self._read()
        if 'error' in answer:
            raise Refusal(answer['error'])
        return answer

    def half_of_mfsc(self, kernel: str, workers: str) -> Optional[str]:
        """Half of the chunk that mfsc cuts of the kernel's loop; None where that cannot be told."""
        try:
            return str(self.ask('half', workers, *split(kernel))['chunk'])
        except Refusal:
            return None


def topology_options(masters: str) -> List[str]:
    return ['--dca', masters[len(DCA):]] if is_dca(masters) else ['--masters', masters]


class Checks:
    """The checks of a study. Each method raises Located, or Refusal where its caller knows the line."""

    def __init__(self, study: Study, engine: Engine) -> None:
        self.study, self.engine = study, engine
        self.kernels = [split(kernel) for kernel in study.values['kernel']]
        self.masters, self.workers = study.values['masters'], study.values['workers']

    def all(self) -> None:
        study = self.study
        if study.line['technique']:
            for value in study.values['technique']:  # plug-ins are loaded, as each run would
                self._at(study.line['technique'], 'technique', value)
        if study.simulates:
            self._simulations()
        if study.is_real:
            self._real_runs()
        self._values('power', self._power)
        self._values('sync_points', self._sync_points)

    def _at(self, line: int, *words: str) -> None:
        self._located(line, lambda: self.engine.ask(*words))

    @staticmethod
    def _located(line: int, check: Callable[[], object]) -> None:
        try:
            check()
        except Located:
            raise
        except Refusal as refusal:
            raise Located(str(refusal), line) from None

    # --- real runs ---

    def _real_runs(self) -> None:
        study = self.study
        for kernel, line in zip(self.kernels, study.kernel_lines):
            self._at(line, 'run', *kernel)
            self._at(study.options_line, 'run', *study.options, *kernel)
            self._at(line, 'inputs', *study.options, *kernel)
        if study.line['thread_technique']:  # those by which threads can share a chunk are known only where they stand beside their number
            for value in study.values['thread_technique']:
                self._at(study.line['thread_technique'], 'run', '--threads', '2', '--thread-technique', value, *self.kernels[0])

    # --- simulated ones ---

    def _simulations(self) -> None:
        study = self.study
        for kernel in range(len(self.kernels)):
            self._topologies(kernel, False)
        for platform in study.values['platform']:
            self._platform(platform)
        for kernel in range(len(self.kernels)):
            self._topologies(kernel, True)
        for axis in AXES:
            for value in study.values[axis.name]:
                if axis.is_simulated and value != axis.standard:  # on the first platform with the most workers and masters
                    self._at(study.line[axis.name], 'simulate', *self._options(self.masters[-1]), f'--{axis.option}', value, *self.kernels[0])

    def _topologies(self, kernel: int, has_options: bool) -> None:
        """A kernel alone, or with the options of the study, led by a supermaster or by workers alone."""
        for i, masters in enumerate(self.masters):
            if i > 0 and not is_dca(masters):
                continue
            options = self._options(masters) if has_options else topology_options(masters) if is_dca(masters) else []
            self._at(self.study.options_line if has_options else self.study.kernel_lines[kernel], 'simulate', *options, *self.kernels[kernel])

    def _options(self, masters: str) -> List[str]:
        """The options of the study as in one of its runs: on the first platform with as many workers as there are to be."""
        return [*self._place(masters, self.study.values['platform'][0]), *self.study.options]

    def _place(self, masters: str, platform: str) -> List[str]:
        return [*topology_options(masters), f'--workers={self.workers[-1]}', *([f'--platform={platform}'] if platform != NO_PLATFORM else [])]

    def _platform(self, platform: str) -> None:
        """With as many ranks as there are to be: the last of the numbers of masters, behind which workers alone stand, is the greatest."""
        most = next((value for value in reversed(self.masters) if not is_dca(value)), self.masters[0])
        self._at(self.study.line['platform'] or self.study.line['workers'], 'simulate', *self._place(most, platform), *self.kernels[0])

    # --- values that suit no loop, or no workers ---

    def _values(self, axis: str, check: Callable[[str], None]) -> None:
        for value in self.study.values[axis]:
            if self.study.line[axis] and value != AXIS[axis].standard:
                self._located(self.study.line[axis], lambda value=value: check(value))  # type: ignore[misc]

    def _value(self, axis: str, value: str, masters: str, workers: str, kernel: Sequence[str]) -> None:
        """A value with what it depends on, as in a run of its own; a simulated run without the study's options, which may ask for more than it needs."""
        options = [*topology_options(masters), f'--workers={workers}', f'--{AXIS[axis].option}={value}']
        if self.study.is_real:
            self.engine.ask('loop', *self.study.options, *options, *kernel)
        if self.study.simulates:
            self.engine.ask('simulate', *options, *kernel)

    def _power(self, power: str) -> None:
        """A list has a number for each of so many workers as it has numbers. A file names ranks, which each number of masters and workers has other ones of."""
        parts = power.count(',') + 1
        for masters in self.masters:
            for workers in self.workers:
                self._value('power', power, masters, str(parts) if parts > 1 else workers, self.kernels[0])

    def _sync_points(self, points: str) -> None:
        """Loops without dependencies have no points of synchronization, and others not more than they have elements."""
        for kernel in self.kernels:
            self._value('sync_points', points, self.masters[0], self.workers[0], kernel)
