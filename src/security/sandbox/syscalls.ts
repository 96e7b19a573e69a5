// Numbers of the system calls that the filter knows by name, for the two supported processor families. They are part of
// the stable Linux interface; which calls are denied is decided in `seccomp.ts`.

/** Processor families with a table, by Node's names. */
export type Architecture = 'x64' | 'arm64';

/** AUDIT_ARCH_X86_64 and AUDIT_ARCH_AARCH64: machine number, 64-bit flag, little-endian flag. */
export const auditArchitectures: Readonly<Record<Architecture, number>> = {
  x64: 0xc000003e,
  arm64: 0xc00000b7,
};

/** The highest call number that has been reviewed for this table; later calls are denied until they are reviewed. */
export const highestKnownCall = 466;

/** Numbers from here up are the x32 interface of x86-64 kernels. */
export const x32CallBit = 0x40000000;

const absent = undefined;

/** name: [x64, arm64]; `undefined` if the family never had the call. */
export const systemCalls = {
  acct: [163, 89],
  add_key: [248, 217],
  adjtimex: [159, 171],
  bpf: [321, 280],
  chmod: [90, absent],
  chroot: [161, 51],
  clock_adjtime: [305, 266],
  clock_settime: [227, 112],
  clone: [56, 220],
  clone3: [435, 435],
  creat: [85, absent],
  create_module: [174, absent],
  delete_module: [176, 106],
  fallocate: [285, 47],
  fanotify_init: [300, 262],
  fanotify_mark: [301, 263],
  fchmod: [91, 52],
  fchmodat: [268, 53],
  fchmodat2: [452, 452],
  finit_module: [313, 273],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fsopen: [430, 430],
  fspick: [433, 433],
  get_kernel_syms: [177, absent],
  init_module: [175, 105],
  inotify_init: [253, absent],
  inotify_init1: [294, 26],
  io_setup: [206, 0],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  io_uring_setup: [425, 425],
  ioctl: [16, 29],
  ioperm: [173, absent],
  iopl: [172, absent],
  kcmp: [312, 272],
  kexec_file_load: [320, 294],
  kexec_load: [246, 104],
  keyctl: [250, 219],
  listmount: [458, 458],
  lookup_dcookie: [212, 18],
  mbind: [237, 235],
  memfd_create: [319, 279],
  memfd_secret: [447, 447],
  migrate_pages: [256, 238],
  mkdir: [83, absent],
  mkdirat: [258, 34],
  mknod: [133, absent],
  mknodat: [259, 33],
  modify_ldt: [154, absent],
  mount: [165, 40],
  mount_setattr: [442, 442],
  move_mount: [429, 429],
  move_pages: [279, 239],
  mq_open: [240, 180],
  msgget: [68, 186],
  name_to_handle_at: [303, 264],
  nfsservctl: [180, 42],
  open: [2, absent],
  open_by_handle_at: [304, 265],
  open_tree: [428, 428],
  openat: [257, 56],
  openat2: [437, 437],
  perf_event_open: [298, 241],
  personality: [135, 92],
  pidfd_getfd: [438, 438],
  pivot_root: [155, 41],
  process_madvise: [440, 440],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  ptrace: [101, 117],
  query_module: [178, absent],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  reboot: [169, 142],
  remap_file_pages: [216, 234],
  request_key: [249, 218],
  semget: [64, 190],
  set_mempolicy: [238, 237],
  set_mempolicy_home_node: [450, 450],
  setdomainname: [171, 162],
  sethostname: [170, 161],
  setns: [308, 268],
  settimeofday: [164, 170],
  shmat: [30, 196],
  shmget: [29, 194],
  socket: [41, 198],
  socketpair: [53, 199],
  statmount: [457, 457],
  swapoff: [168, 225],
  swapon: [167, 224],
  sysctl: [156, absent],
  sysfs: [139, absent],
  syslog: [103, 116],
  umount2: [166, 39],
  unshare: [272, 97],
  uselib: [134, absent],
  userfaultfd: [323, 282],
  ustat: [136, absent],
  vhangup: [153, 58],
  vmsplice: [278, 75],
} as const satisfies Record<string, readonly [number | undefined, number | undefined]>;

/** Name of a system call in the table. */
export type SystemCall = keyof typeof systemCalls;

/** The number of a call on a processor family; `undefined` if it does not exist there. */
export function callNumber(name: SystemCall, architecture: Architecture): number | undefined {
  return systemCalls[name][architecture === 'x64' ? 0 : 1];
}
