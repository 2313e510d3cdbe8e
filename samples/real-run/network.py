# SPDX-License-Identifier: GPL-3.0-or-later
"""Two datacenters on one machine, as network namespaces: nodes, a LAN in each, a link between them.

    node a0 --lan (tbf)-- bridge --+                                     +-- bridge --lan-- node b0
      \\----- wan (tbf) -- router A -- tun0 == delay line == tun0 -- router B -- wan (tbf) -----/

A node sends to its own datacenter over `lan`, to the other one over `wan`; either is shaped where it leaves the node,
so that a node pair has the rate that a plan calls node_pair_gbps. The delay line (delay_line.cpp) stands between the
routers. Nothing outside the namespaces is touched; close() ends the delay line and removes them.
"""

import os
import subprocess

MTU = 9000  # jumbo frames, as private backbones have: the delay line handles each packet in user space
QUEUE_BYTES = 32 << 20  # of a shaper: no packet is dropped, as on a link that the job has for itself


class CannotEmulate(Exception):
    """What of the machine does not allow it; the message is a sentence."""


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        raise CannotEmulate("`%s` says: %s" % (" ".join(command), done.stdout.strip()))
    return done.stdout


class Network:
    """`nodes` a datacenter; rates in 10^6 bit/s, times in ms."""

    def __init__(self, folder, nodes=2, lan_mbit=1000.0, slow_start=False):
        self.nodes, self.folder, self.slow_start = nodes, folder, slow_start
        self.prefix = "trainyard%d" % os.getpid()
        self.made, self.delay_line = [], None
        try:
            self._build(lan_mbit)
            self._delay()
            self._route()
        except BaseException:
            self.close()
            raise

    def name(self, which):
        return "%s-%s" % (self.prefix, which)

    def of_rank(self, rank):
        """Namespace and address of a rank: those of the first datacenter first."""
        site, index = divmod(rank, self.nodes)
        return self.name("%s%d" % ("ab"[site], index)), "10.77.%d.%d" % (site + 1, index + 1)

    def _namespace(self, which):
        name = self.name(which)
        run("ip", "netns", "add", name)
        self.made.append(name)
        self._in(name, "ip", "link", "set", "lo", "up")
        settings = {"ipv4/tcp_congestion_control": "reno",
                    "ipv4/tcp_slow_start_after_idle": str(int(self.slow_start)),
                    "ipv4/tcp_no_metrics_save": "1", "ipv4/ip_forward": "1", "ipv4/conf/all/rp_filter": "0",
                    "ipv4/tcp_wmem": "4096 262144 33554432", "ipv4/tcp_rmem": "4096 262144 67108864"}
        for key, value in settings.items():
            self._in(name, "sh", "-c", "echo '%s' > /proc/sys/net/%s" % (value, key))
        return name

    @staticmethod
    def _in(name, *command):
        return run("ip", "netns", "exec", name, *command)

    def _link(self, inside, device, outside, peer, address=None):
        run("ip", "-n", outside, "link", "add", peer, "mtu", str(MTU), "type", "veth", "peer", "name", device, "mtu",
            str(MTU), "netns", inside)
        run("ip", "-n", outside, "link", "set", peer, "up")
        run("ip", "-n", inside, "link", "set", device, "up")
        if address:
            run("ip", "-n", inside, "addr", "add", address, "dev", device)

    @staticmethod
    def _shape(name, device, mbit):
        run("tc", "-n", name, "qdisc", "replace", "dev", device, "root", "tbf", "rate", "%dkbit" % round(mbit * 1000),
            "burst", "20000", "limit", str(QUEUE_BYTES))

    def _build(self, lan_mbit):
        for site in range(2):
            router = self._namespace("router-" + "ab"[site])
            run("ip", "-n", router, "link", "add", "lan", "mtu", str(MTU), "type", "bridge")
            run("ip", "-n", router, "link", "set", "lan", "up")
            for index in range(self.nodes):
                node = self._namespace("%s%d" % ("ab"[site], index))
                self._link(node, "lan", router, "lan%d" % index, "10.77.%d.%d/24" % (site + 1, index + 1))
                run("ip", "-n", router, "link", "set", "lan%d" % index, "master", "lan")
                self._link(node, "wan", router, "wan%d" % index, "10.78.%d.%d/30" % (site + 1, 4 * index + 2))
                run("ip", "-n", router, "addr", "add", "10.78.%d.%d/30" % (site + 1, 4 * index + 1), "dev",
                    "wan%d" % index)
                self._shape(node, "lan", lan_mbit)

    def _delay(self):
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "delay_line.cpp")
        program = os.path.join(self.folder, "delay_line")
        if not os.path.exists(program):
            run("c++", "-std=c++17", "-O2", "-pthread", source, "-o", program)
        self.delay_line = subprocess.Popen(  # ends when its input does, so also when this process is killed
            ["chrt", "-f", "40", program, self.name("router-a"), self.name("router-b")],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        if self.delay_line.stdout.readline() != b"ready\n":
            raise CannotEmulate("The delay line did not start: it needs /dev/net/tun and the right to use it")

    def _route(self):
        for site in range(2):
            router = self.name("router-" + "ab"[site])
            run("ip", "-n", router, "link", "set", "tun0", "up", "mtu", str(MTU), "txqueuelen", "20000")
            run("ip", "-n", router, "addr", "add", "10.79.0.%d/32" % (site + 1), "dev", "tun0")
            run("ip", "-n", router, "route", "add", "10.77.%d.0/24" % (2 - site), "dev", "tun0")
            for index in range(self.nodes):
                node, own = self.name("%s%d" % ("ab"[site], index)), "10.77.%d.%d" % (site + 1, index + 1)
                run("ip", "-n", router, "route", "add", own + "/32", "via", "10.78.%d.%d" % (site + 1, 4 * index + 2))
                run("ip", "-n", node, "route", "add", "10.77.%d.0/24" % (2 - site), "via",
                    "10.78.%d.%d" % (site + 1, 4 * index + 1), "src", own)

    def set_wan(self, mbit, rtt_ms):
        """May change while the job runs."""
        self.delay_line.stdin.write(b"%f\n" % (rtt_ms * 500))
        self.delay_line.stdin.flush()
        for site in range(2):
            for index in range(self.nodes):
                self._shape(self.name("%s%d" % ("ab"[site], index)), "wan", mbit)

    def close(self):
        if self.delay_line:
            self.delay_line.stdin.close()
            try:
                self.delay_line.wait(5)
            except subprocess.TimeoutExpired:
                self.delay_line.kill()
                self.delay_line.wait()
            self.delay_line = None
        for name in self.made:
            subprocess.run(["ip", "netns", "del", name], check=False, stderr=subprocess.DEVNULL)
        self.made = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
