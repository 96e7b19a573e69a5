// Attempts to reach files: of the host, of the system, of the kernel.

import { expect } from 'vitest';
import type { Attempt } from './sandbox-attempt.ts';
import { EPERM, nr, perl, says, shell } from './sandbox-attempt.ts';

export const files: readonly Attempt[] = [
  [
    'reads a host file by its path',
    (host) => shell(`cat ${host.canary}`),
    (s) => expect(s.stderr).toMatch(/No such file/),
  ],
  ['reads /etc/shadow', () => shell('cat /etc/shadow'), (s) => expect(s.stderr).toMatch(/No such file/)],
  ['reads the account names of the host', () => shell('cut -d: -f1 /etc/passwd | xargs'), says('sandbox nobody')],
  [
    'lists the home directories',
    () => shell('ls -d /root /home /home/* /srv /opt /mnt /media 2>/dev/null | wc -l'),
    says('0'),
  ],
  ['lists /var, /run and /boot', () => shell('ls -d /var /run /boot /sys 2>/dev/null | wc -l'), says('0')],
  ['reads the directory of the server', () => shell(`ls ${process.cwd()}`), (s) => expect(s.exitCode).not.toBe(0)],
  [
    'follows a link out of the work directory',
    () => shell('cat link-to-canary'),
    (s) => expect(s.stderr).toMatch(/No such/),
  ],
  [
    'walks through a link to the root',
    (host) => shell(`cat link-to-root${host.canary}`),
    (s) => expect(s.exitCode).not.toBe(0),
  ],
  [
    'plants a link and reads through it',
    (host) => shell(`ln -s ${host.canary} planted; cat planted`),
    (s) => expect(s.exitCode).not.toBe(0),
  ],
  [
    'climbs above the work directory',
    () => shell('cd ../../../../../..; pwd; ls outside 2>&1'),
    says(/^\/\n.*No such file/),
  ],
  [
    'climbs with an open descriptor',
    () => shell(`exec 5<.; cd /proc/self/fd/5/../outside`),
    (s) => expect(s.exitCode).not.toBe(0),
  ],
  [
    'reads through /proc/1/root',
    (host) => shell(`cat /proc/1/root${host.canary}`),
    (s) => expect(s.exitCode).not.toBe(0),
  ],
  [
    'reads through the root of every process',
    (host) => shell(`cat /proc/[0-9]*/root${host.canary} 2>/dev/null | wc -c`),
    says('0'),
  ],
  [
    'reads through the directory of every process',
    () => shell(`cat /proc/[0-9]*/cwd/../outside/canary 2>/dev/null | wc -c`),
    says('0'),
  ],
  [
    'links a system file into the work directory',
    () => shell('ln /usr/bin/cat stolen'),
    (s) => expect(s.stderr).toMatch(/cross-device|not permitted/i),
  ],
  [
    'writes a program into /usr/bin',
    () => shell('echo x > /usr/bin/evil'),
    (s) => expect(s.stderr).toMatch(/Read-only|denied/),
  ],
  [
    'replaces a library',
    () => shell('touch /lib/evil.so /usr/lib/evil.so'),
    (s) => expect(s.stderr).toMatch(/Read-only|denied/),
  ],
  [
    'writes /etc/ld.so.preload',
    () => shell('echo /tmp/x.so > /etc/ld.so.preload'),
    (s) => expect(s.stderr).toMatch(/Read-only/),
  ],
  ['writes at the root', () => shell('touch /evil'), (s) => expect(s.stderr).toMatch(/Read-only/)],
  [
    'changes a file in a read-only directory',
    (host) => shell(`echo x > ${host.library}/book`),
    (s) => expect(s.stderr).toMatch(/Read-only/),
  ],
  [
    'changes the mode of a read-only file',
    (host) => shell(`chmod 777 ${host.library}/book`),
    (s) => expect(s.stderr).toMatch(/Read-only/),
  ],
  [
    'renames the work directory away',
    (host) => shell(`mv ${host.work} ${host.work}-moved`),
    (s) => expect(s.exitCode).not.toBe(0),
  ],
  [
    'gives a file the set-user bit',
    () => perl(`open my $f, '>', 'tool'; try(chmod 04755, 'tool');`),
    says(/not permitted/),
  ],
  ['creates a file with the set-user bit', () => perl(`sys(${nr('openat')}, -100, "born", 0101, 04755);`), says(EPERM)],
  [
    'gives a file capabilities',
    () =>
      perl(
        `open my $f, '>', 'cap'; sys(${nr('setxattr')}, "cap", "security.capability", pack("V5", 0x02000001, 0xffffffff, 0, 0, 0), 20, 0);`,
      ),
    says(EPERM),
  ],
  [
    'makes a device node for the first disk',
    () => shell('mknod disk b 254 0 && cat disk | head -c 1'),
    (s) => expect(s.stderr).toMatch(/not permitted/),
  ],
  [
    'opens memory and disk devices',
    () =>
      shell(
        'for d in mem kmem port kmsg sda vda nvme0n1 fuse kvm loop-control mapper/control; do (: < /dev/$d) 2>/dev/null && echo $d; done; echo none',
      ),
    says('none'),
  ],
  ['opens a file by handle', () => perl(`sys(${nr('open_by_handle_at')}, -100, "x" x 64, 0);`), says(EPERM)],
  [
    'learns a file handle',
    () => perl(`sys(${nr('name_to_handle_at')}, -100, "/", "x" x 136, "x" x 8, 0);`),
    says(EPERM),
  ],
  [
    'runs a set-user program',
    () =>
      shell(
        'for p in su passwd mount newgrp chsh; do p=$(command -v $p) && $p --version >/dev/null 2>&1; done; grep -E "^(NoNewPrivs|CapEff|CapPrm)" /proc/self/status | xargs',
      ),
    says('CapPrm: 0000000000000000 CapEff: 0000000000000000 NoNewPrivs: 1'),
  ],
];

export const kernelFiles: readonly Attempt[] = [
  ['finds /sys', () => shell('ls /sys'), (s) => expect(s.stderr).toMatch(/No such file/)],
  [
    'sets a program for core dumps',
    () => shell('echo "|/tmp/x" > /proc/sys/kernel/core_pattern'),
    (s) => expect(s.stderr).toMatch(/Read-only|denied/),
  ],
  [
    'sets values of its own namespaces',
    () =>
      shell(
        'find /proc/sys -type f -writable 2>/dev/null | while read f; do (echo 1 > $f) 2>/dev/null && echo $f; done; echo none',
      ),
    says('none'),
  ],
  ['pulls the magic key', () => shell('echo b > /proc/sysrq-trigger'), (s) => expect(s.exitCode).not.toBe(0)],
  [
    'protects itself from the memory killer',
    () =>
      shell('echo -1000 > /proc/self/oom_score_adj; echo 0 > /proc/self/oom_score_adj; cat /proc/self/oom_score_adj'),
    says(/^(0|1000)$/),
  ],
  [
    'reads kernel memory, keys, symbols and boot options',
    () =>
      shell(
        'for f in kcore kmsg keys key-users kallsyms cmdline config.gz timer_list interrupts; do cat /proc/$f 2>/dev/null | head -c 9; done | wc -c',
      ),
    says('0'),
  ],
  [
    'reads the environment of process 1',
    () => shell('tr "\\0" "\\n" < /proc/1/environ | cut -d= -f1 | sort | xargs'),
    says('ATTACK_MARK HOME LANG LOGNAME PATH PWD TMPDIR USER'),
  ],
  [
    'writes into the memory of process 1',
    () =>
      perl(
        `open my $f, '+<', '/proc/1/mem' or do { print "failed: $!"; exit }; sysseek $f, 4096, 0; try(syswrite $f, 'x');`,
      ),
    says(/failed/),
  ],
  ['finds processes of the host', () => shell('ls -d /proc/[0-9]* | wc -l'), says(/^[3-6]$/)],
  ['learns the host name', () => shell('cat /proc/sys/kernel/hostname'), says('sandbox')],
];
