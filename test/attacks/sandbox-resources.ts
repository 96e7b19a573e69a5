// Attempts by processes and resources: survivors, bombs, floods, and what a program could find of ours.

import { expect } from 'vitest';
import type { Attempt } from './sandbox-attempt.ts';
import { ENOSYS, EPERM, limits, nr, perl, says, shell } from './sandbox-attempt.ts';

export const processes: readonly Attempt[] = [
  ['kills its parent', () => shell('kill -9 $PPID; kill -9 1; kill -STOP $PPID; echo still here'), says('still here')],
  [
    'kills us by number',
    () => perl(`my $n = 0; for (1..65535) { $n++ if $_ != $$ && $_ != 1 && kill 9, $_ } print "killed $n";`),
    says('killed 0'),
  ],
  ['kills everybody', () => perl(`print "before\\n"; kill 'KILL', -1; sleep 1;`), says('before')],
  [
    'traces a process',
    () => perl(`sys(${nr('ptrace')}, 16, 1, 0, 0); sys(${nr('ptrace')}, 0, 0, 0, 0);`),
    says('errno 1\nerrno 1'),
  ],
  ['reads the memory of another process', () => perl(`sys(${nr('process_vm_readv')}, 1, 0, 0, 0, 0, 0);`), says(EPERM)],
  ['takes a descriptor of another process', () => perl(`sys(${nr('pidfd_getfd')}, 0, 0, 0);`), says(EPERM)],
  [
    'leaves a survivor in a new session',
    () => shell('setsid sleep 300 </dev/null >/dev/null 2>&1 & echo started'),
    says('started'),
  ],
  [
    'becomes a daemon by forking twice',
    () =>
      perl(
        `use POSIX (); for (1..2) { exit if fork; POSIX::setsid(); } close $_ for *STDIN, *STDOUT, *STDERR; sleep 300;`,
      ),
    (s) => expect(s.exitCode).toBe(0),
  ],
  ['leaves a child that holds the output open', () => shell('sleep 300 & echo started'), says('started')],
  [
    'leaves a child that ignores every signal',
    () => perl(`if (!fork) { $SIG{$_} = 'IGNORE' for keys %SIG; sleep 1 while 1; } print "started";`),
    says('started'),
  ],
  [
    'ignores signals and never ends',
    () => shell('trap "" TERM INT HUP ALRM; while :; do sleep 1; done', { timeoutMs: 500 }),
    (s) => expect(s.timedOut).toBe(true),
  ],
  [
    'stops itself and the clock',
    () => shell('kill -STOP 1; kill -STOP $$; sleep 300', { timeoutMs: 500 }),
    (s) => expect(s.timedOut).toBe(true),
  ],
  [
    'stops a child that blocks its end',
    () => shell('sleep 300 & kill -STOP $!; wait', { timeoutMs: 500 }),
    (s) => expect(s.timedOut).toBe(true),
  ],
  ['burns processor time', () => perl('1 while 1'), (s) => expect(s.signal).toMatch(/SIGKILL|SIGXCPU/)],
  [
    'raises its priority',
    () => shell('nice -n -20 true'),
    (s) => expect(s.stderr).toMatch(/denied|not permitted|cannot set/i),
  ],
  ['takes real-time scheduling', () => perl(`sys(${nr('sched_setscheduler')}, 0, 1, pack("i", 99));`), says(EPERM)],
  ['takes real-time disk priority', () => perl(`sys(${nr('ioprio_set')}, 1, 0, 1 << 13);`), says(EPERM)],
  [
    'raises its own limits',
    () => shell('ulimit -n 100000; ulimit -u 100000; ulimit -c unlimited; ulimit -n; ulimit -c'),
    says('256\n0'),
  ],
  [
    'a fork bomb',
    () => shell(':(){ :|:& };:; sleep 300', { timeoutMs: 1_500 }),
    (s) => expect(s.stopped ?? s.exitCode).not.toBe(0),
  ],
  [
    'a fork bomb that leaves its session each time',
    () =>
      perl(
        `use POSIX (); my $n = 0; while ($n < 5000) { my $p = fork; if (!defined $p) { print "rejected after ", $n < 100 ? "few" : $n; last } if (!$p) { POSIX::setsid(); sleep 300; exit } $n++ }`,
      ),
    says('rejected after few'),
  ],
];

export const resources: readonly Attempt[] = [
  [
    'a memory bomb in one process',
    () => perl('my @a; push @a, "x" x 1e7 while 1;'),
    (s) => expect(s.exitCode).not.toBe(0),
  ],
  [
    'a memory bomb in many processes',
    () => perl(`for (1..20) { if (!fork) { my $x = "x" x 6e7; print "got\\n"; sleep 300; exit } } 1 while wait != -1;`),
    (s) => expect(s.stopped === 'memory' || (s.stdout.match(/got/g) ?? []).length <= 3).toBe(true),
  ],
  [
    'a memory bomb in shared mappings',
    () =>
      perl(
        `for (1..40) { open my $f, '+>', "/dev/shm/$_"; print($f "x" x 1e6) or do { print "failed: $!"; last }; close($f) or do { print "failed: $!"; last } }`,
      ),
    says(/No space left/),
  ],
  [
    'fills the private /tmp',
    () => shell('head -c 7M /dev/zero > /tmp/a; head -c 7M /dev/zero > /tmp/b; head -c 7M /dev/zero > /tmp/c'),
    (s) => expect(s.stderr).toMatch(/No space left/),
  ],
  [
    'fills /tmp with empty files',
    () => perl('my $n = 0; while (1) { open my $f, ">", "/tmp/" . $n++; }'),
    (s) => expect(s.stopped).toBe('disk'),
  ],
  [
    'fills the root and /dev',
    () => shell('touch /dev/x /x /proc/x; mkdir /y /dev/y'),
    (s) => expect(s.exitCode).not.toBe(0),
  ],
  [
    'writes one huge file',
    () => shell('head -c 1G /dev/zero > huge; stat -c %s huge; rm huge'),
    (s) => expect(Number.parseInt(s.stdout, 10)).toBeLessThanOrEqual(limits.maxFileBytes),
  ],
  [
    'fills the disk with many files',
    () => shell('for i in $(seq 1 60); do head -c 7M /dev/zero > fill-$i; done; sleep 300'),
    (s) => expect(s.stopped).toBe('disk'),
  ],
  [
    'fills the disk with files that it removes but keeps open',
    () =>
      perl(
        `for my $i (1..60) { open(my $f, '>', 'gone'); unlink 'gone'; print $f "x" x 1e6 for 1..7; push @main::f, $f } sleep 300;`,
      ),
    (s) => expect(s.stopped).toBe('disk'),
  ],
  [
    'takes disk space without writing',
    () => perl(`open(my $f, '>', 'taken'); sys(${nr('fallocate')}, fileno($f), 0, 0, 1 << 22);`),
    says('errno 95'),
  ],
  [
    'makes a file of a terabyte without writing',
    () => shell('truncate -s 1T sparse'),
    (s) => expect(s.signal).toBe('SIGXFSZ'),
  ],
  ['endless output', () => ({ program: 'yes' }), (s) => expect([s.truncated, s.stopped]).toEqual([true, 'output'])],
  [
    'endless errors',
    () => shell('yes >&2'),
    (s) => expect([s.truncated, s.stderr.length]).toEqual([true, limits.maxOutputBytes]),
  ],
  [
    'one endless line',
    () => shell('yes | tr -d "\\n"'),
    (s) => expect([s.truncated, s.stdout.length]).toEqual([true, limits.maxOutputBytes]),
  ],
  [
    'single bytes without end',
    // A tenth of the usual allowance: a byte at a time is slow work on a busy machine.
    () => ({ ...perl('syswrite STDOUT, "x" while 1;'), maxOutputBytes: 100_000 }),
    (s) => expect([s.truncated, s.stopped]).toEqual([true, 'output']),
  ],
  [
    'opens files without end',
    () =>
      perl(
        `my @f; while (1) { open my $f, '<', '/dev/null' or last; push @f, $f } print scalar(@f) < 256 ? "few" : scalar(@f);`,
      ),
    says('few'),
  ],
  ['takes the inotify allowance of its user', () => perl(`sys(${nr('inotify_init1')}, 0);`), says(ENOSYS)],
  ['leaves a core dump', () => shell('ulimit -c unlimited; (kill -SEGV $BASHPID); ls | grep -c "^core"'), says('0')],
  [
    'never reads a large input',
    () => ({ program: 'bash', args: ['-c', 'exec 0<&-; sleep 0.2; echo done'], stdin: Buffer.alloc(8_000_000) }),
    says('done'),
  ],
];

export const leaks: readonly Attempt[] = [
  [
    'looks for descriptors of ours',
    () => perl(`for (0..1023) { my $l = readlink "/proc/self/fd/$_"; print "$_ " if defined $l }`),
    says('0 1 2'),
  ],
  [
    'looks for variables of ours',
    () => ({ program: 'env', env: { GREETING: 'hello' } }),
    (s) =>
      expect(
        s.stdout
          .trim()
          .split('\n')
          .map((line) => line.split('=')[0])
          .sort(),
      ).toEqual(['ATTACK_MARK', 'GREETING', 'HOME', 'LANG', 'LOGNAME', 'PATH', 'PWD', 'TMPDIR', 'USER']),
  ],
  [
    'hopes for a shell between us and the program',
    (host) => ({
      program: 'cat',
      args: [
        `; touch ${host.outside}/x`,
        `$(touch ${host.outside}/x)`,
        `| touch ${host.outside}/x`,
        `\`touch ${host.outside}/x\``,
      ],
    }),
    (s) => expect(s.stderr).toMatch(/No such file/),
  ],
];
