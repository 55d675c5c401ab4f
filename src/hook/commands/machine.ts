import { refuse } from "../refusal.js";
import type { Call } from "../shell/session.js";
import { type Commands, each } from "./command.js";

const refused = (reason: string) => ({ judged: true, run: (call: Call) => refuse(`${call.name}: ${reason}`) });

/** What changes the machine itself, or goes on after the turn. */
export const machine: Commands = {
  ...each(
    ["sudo", "su", "doas", "pkexec", "runuser", "chroot", "unshare", "nsenter", "setpriv", "gosu", "machinectl"],
    refused("a turn works with its own rights only"),
  ),
  ...each(
    [
      "mkfs",
      "fdisk",
      "sfdisk",
      "parted",
      "wipefs",
      "mkswap",
      "swapon",
      "swapoff",
      "mount",
      "umount",
      "losetup",
      "cryptsetup",
      "blkdiscard",
      "hdparm",
      "lvremove",
      "vgremove",
    ],
    refused("disks are not touched"),
  ),
  ...each(
    ["mkfs.ext2", "mkfs.ext3", "mkfs.ext4", "mkfs.xfs", "mkfs.btrfs", "mkfs.vfat", "mkfs.fat", "newfs"],
    refused("disks are not touched"),
  ),
  ...each(
    ["shutdown", "reboot", "halt", "poweroff", "init", "telinit", "kexec", "pm-suspend"],
    refused("the machine stays on"),
  ),
  ...each(
    ["useradd", "userdel", "usermod", "groupadd", "groupdel", "passwd", "chpasswd", "visudo", "chsh", "vipw"],
    refused("accounts are not changed"),
  ),
  ...each(
    [
      "iptables",
      "ip6tables",
      "nft",
      "ufw",
      "firewall-cmd",
      "sysctl",
      "modprobe",
      "insmod",
      "rmmod",
      "ip",
      "ifconfig",
      "route",
    ],
    refused("the machine's settings are not changed"),
  ),
  crontab: {
    judged: true,
    run: (call) => (call.args.length === 1 && call.args[0] === "-l" ? undefined : outlives(call)),
  },
  ...each(["at", "batch", "systemd-run", "launchctl", "update-rc.d", "chkconfig", "rc-update", "initctl", "schtasks"], {
    judged: true,
    run: outlives,
  }),
  systemctl: { judged: true, run: services },
  service: { judged: true, run: (call) => (call.args.at(-1) === "status" ? undefined : outlives(call)) },
  loginctl: { judged: true, run: outlives },
};

function outlives(call: Call): never {
  return refuse(`${call.name}: nothing may go on after the turn; start what you need as a child of your own command`);
}

function services(call: Call): undefined {
  const [action = ""] = call.args.filter((arg) => !arg.startsWith("-"));
  const isReading = /^(status|show|cat|is-active|is-enabled|is-failed|list-.*|help|)$/.test(action);
  return isReading ? undefined : outlives(call);
}
