// Attempts on the kernel: calls that the filter rejects, namespaces, terminals, sockets.

import { expect } from 'vitest';
import type { Attempt } from './sandbox-attempt.ts';
import { ENOSYS, EPERM, nr, perl, says, shell } from './sandbox-attempt.ts';

export const kernel: readonly Attempt[] = [
  ['makes a user namespace', () => shell('unshare -U true'), (s) => expect(s.stderr).toMatch(/not permitted/)],
  [
    'makes every namespace',
    () => shell('unshare -Urmpfn --mount-proc true'),
    (s) => expect(s.stderr).toMatch(/not permitted/),
  ],
  ['clones into a user namespace', () => perl(`sys(${nr('clone')}, 0x10000011, 0, 0, 0, 0);`), says(EPERM)],
  ['clones with clone3', () => perl(`sys(${nr('clone3')}, pack("Q11", 0x10000000), 88);`), says(ENOSYS)],
  [
    'enters a namespace',
    () => perl(`open my $f, '<', '/proc/1/ns/mnt' or print "closed "; sys(${nr('setns')}, 3, 0);`),
    says(/errno 1$/),
  ],
  ['mounts a file system', () => perl(`sys(${nr('mount')}, "none", "/tmp", "tmpfs", 0, 0);`), says(EPERM)],
  ['remounts /usr writable', () => perl(`sys(${nr('mount')}, "none", "/usr", 0, 32 | 4096, 0);`), says(EPERM)],
  [
    'mounts by the new interface',
    () =>
      perl(
        `sys(${nr('fsopen')}, "tmpfs", 0); sys(${nr('open_tree')}, -100, "/", 1); sys(${nr('move_mount')}, 0, "", 0, "", 0);`,
      ),
    says('errno 1\nerrno 1\nerrno 1'),
  ],
  [
    'unmounts what hides the host',
    () => perl(`sys(${nr('umount2')}, "/proc/keys", 2); sys(${nr('umount2')}, "/", 2);`),
    says('errno 1\nerrno 1'),
  ],
  [
    'changes its root',
    () => perl(`try(chroot '/tmp'); sys(${nr('pivot_root')}, "/tmp", "/tmp");`),
    says(/^failed: Operation not permitted\nerrno 1$/),
  ],
  [
    'uses the keyring',
    () =>
      perl(
        `sys(${nr('keyctl')}, 0, -3, 1); sys(${nr('add_key')}, "user", "x", "y", 1, -3); sys(${nr('request_key')}, "user", "x", 0, 0);`,
      ),
    says('errno 1\nerrno 1\nerrno 1'),
  ],
  ['opens an io_uring', () => perl(`sys(${nr('io_uring_setup')}, 8, "\\0" x 120);`), says(ENOSYS)],
  ['loads a BPF program', () => perl(`sys(${nr('bpf')}, 5, "\\0" x 128, 128);`), says(EPERM)],
  [
    'counts events of the processor',
    () => perl(`sys(${nr('perf_event_open')}, "\\0" x 128, 0, -1, -1, 0);`),
    says(EPERM),
  ],
  ['handles page faults itself', () => perl(`sys(${nr('userfaultfd')}, 0);`), says(ENOSYS)],
  ['switches off address randomisation', () => perl(`sys(${nr('personality')}, 0x0040000);`), says(EPERM)],
  [
    'loads a kernel module',
    () =>
      perl(
        `sys(${nr('init_module')}, "x", 1, ""); sys(${nr('finit_module')}, 0, "", 0); sys(${nr('delete_module')}, "x", 0);`,
      ),
    says('errno 1\nerrno 1\nerrno 1'),
  ],
  [
    'restarts the machine',
    () => perl(`sys(${nr('reboot')}, 0xfee1dead, 672274793, 0x1234567, 0); sys(${nr('kexec_load')}, 0, 0, 0, 0);`),
    says('errno 1\nerrno 1'),
  ],
  [
    'switches swap and accounting',
    () => perl(`sys(${nr('swapon')}, "/tmp/x", 0); sys(${nr('swapoff')}, "/tmp/x"); sys(${nr('acct')}, "/tmp/x");`),
    says('errno 1\nerrno 1\nerrno 1'),
  ],
  [
    'sets the clock',
    () => perl(`sys(${nr('clock_settime')}, 0, pack("q2", 0, 0)); sys(${nr('settimeofday')}, pack("q2", 0, 0), 0);`),
    says('errno 1\nerrno 1'),
  ],
  [
    'sets the host name',
    () => perl(`sys(${nr('sethostname')}, "evil", 4); sys(${nr('setdomainname')}, "evil", 4);`),
    says('errno 1\nerrno 1'),
  ],
  ['runs code from memory without a file', () => perl(`sys(${nr('memfd_create')}, "x", 0);`), says(ENOSYS)],
  [
    'makes shared memory that no limit counts',
    () =>
      perl(
        `sys(${nr('shmget')}, 0, 1 << 30, 01600); sys(${nr('msgget')}, 0, 01600); sys(${nr('semget')}, 0, 1, 01600); sys(${nr('mq_open')}, "x", 0100, 0600, 0);`,
      ),
    says('errno 38\nerrno 38\nerrno 38\nerrno 38'),
  ],
  ['calls what the filter does not know yet', () => perl('sys(471); sys(600);'), says('errno 38\nerrno 38')],
  [
    'types into a terminal',
    () =>
      perl(
        `open my $t, '+<', '/dev/tty' or print "no terminal\\n"; my $c = "x"; try(ioctl(STDIN, 0x5412, $c)); try(ioctl(STDOUT, 0x541c, $c));`,
      ),
    says('no terminal\nfailed: Operation not permitted\nfailed: Operation not permitted'),
  ],
];

export const network: readonly Attempt[] = [
  [
    'connects to a listener of the host',
    (host) => shell(`(: > /dev/tcp/127.0.0.1/${host.tcpPort}) 2>&1 && echo connected; echo end`),
    (s) => expect(s.stdout).not.toMatch(/^connected/m),
  ],
  [
    'connects to the world',
    () => shell('(: > /dev/tcp/192.0.2.1/80) 2>&1 && echo connected; echo end'),
    (s) => expect(s.stdout).not.toMatch(/^connected/m),
  ],
  [
    'sends a datagram',
    () => shell('(echo x > /dev/udp/192.0.2.1/53) 2>&1 && echo sent; echo end'),
    (s) => expect(s.stdout).not.toMatch(/^sent/m),
  ],
  [
    'opens internet sockets',
    () => perl(`try(socket(my $a, 2, 1, 0)); try(socket(my $b, 10, 2, 0));`),
    says('failed: Operation not permitted\nfailed: Operation not permitted'),
  ],
  [
    'opens raw and packet sockets',
    () => perl(`try(socket(my $a, 2, 3, 1)); try(socket(my $b, 17, 3, 0));`),
    says('failed: Operation not permitted\nfailed: Operation not permitted'),
  ],
  [
    'opens netlink, vsock and crypto sockets',
    () => perl(`try(socket(my $s, $_, 3, 0)) for 16, 40, 38;`),
    says(/^(failed: Operation not permitted\n?){3}$/),
  ],
  [
    'reaches a Unix socket of the host',
    (host) => perl(`try(socket(my $s, 1, 1, 0)); try(connect(STDIN, pack("Sa*", 1, "${host.unixSocket}")));`),
    says(/^failed: Operation not permitted\nfailed/),
  ],
  [
    'reaches an abstract socket of the host',
    (host) => perl(`try(socket(my $s, 1, 1, 0)); try(connect(STDOUT, pack("Sa*", 1, "\\0${host.abstractName}")));`),
    says(/^failed: Operation not permitted\nfailed/),
  ],
  ['finds a network interface', () => shell('tail -n +3 /proc/net/dev | cut -d: -f1 | xargs'), says('lo')],
];
