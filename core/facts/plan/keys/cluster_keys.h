#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The keys of `cluster`: datacenters, pools of equal nodes with their drives and main memory, links.

#include "core/facts/plan/keys/key.h"
#include "core/facts/plan/plan.h"

namespace trainyard::keys {

template <class V> [[gnu::cold]] void describe(V &v, Of<Ssd>)
{
    v.value(&Ssd::writeGBps,
        Key("write_gbytes_per_s", "Sequential write of one node's drives, 10^9 bytes/s",
            said("Drive writes of", " GB/s"), upTo(1e6), kAlways, shown("Write"), field(2, " GB/s per node")));
    v.value(&Ssd::readGBps,
        Key("read_gbytes_per_s", "Sequential read of one node's drives, 10^9 bytes/s", said("Drive reads of", " GB/s"),
            upTo(1e6), kAlways, shown("Read"), field(2, " GB/s per node")));
    v.value(&Ssd::endurancePb,
        Key("endurance_pb", "Total bytes written before wear-out, 10^15 bytes", said("Drive endurance of", " PB"),
            upTo(1e6),
            shown("Endurance",
                "Rated bytes until the drives of one node are worn out, all together: the data sheet's TBW."),
            field(2, " PB written"), lowestMeans("not known")));
    v.value(&Ssd::usd,
        Key("usd", "Price of one node's drives, USD", said("Price of the drives of", " USD"), upTo(1e9),
            shown("Drives cost"), field(0, " $ per node"), lowestMeans("not known")));
    v.value(&Ssd::writeAmplification,
        Key("write_amplification", "Bytes that the drive writes for each byte sent; the rating assumes 2.5 (JESD218)",
            said("Write amplification of"), range(1, 100),
            shown("Write amplification",
                "What a drive writes inside for each byte that it is sent. Large sequential writes, as activations "
                "are, come near 1; "
                "the rating assumes a random workload of 2.5, so drives last 2.5 times what the rating says."),
            field(2, " ×")));
    v.value(&Ssd::retentionGain,
        Key("retention_gain", "Further program/erase cycles where data need not last as long as rated: 1 is the rating",
            said("Retention gain of"), range(1, 1e3),
            shown("Retention gain",
                "Cells that need to hold data for a day and not for years take more program and erase cycles: 86 times "
                "as many for one day "
                "instead of three years. The risk: a drive used beyond its rating loses what lies on it when it is "
                "without power for days, "
                "and its warranty ends. Activations are needed for seconds; anything else on the drive is not safe. 1 "
                "keeps the rating."),
            field(1, " × cycles")));
    v.value(&Ssd::gpusSharing,
        Key("gpus_sharing", "GPUs behind one PCIe switch on the way to the drives", said("GPUs a PCIe switch of"),
            range(1, 1024),
            shown("GPUs per PCIe switch",
                "GPUs that share one PCIe link on the way to the drives: each gets its part of it when all move at "
                "once.")));
}

template <class V> [[gnu::cold]] void describe(V &v, Of<Host>)
{
    v.value(&Host::memoryGib,
        Key("memory_gib", "Main memory of one node, 2^30 bytes", said("Host memory of", " GiB"), upTo(1e7), kAlways,
            more("without it, what offload needs is taken as there, and a note says so"), shown("Host memory"),
            field(0, " GiB per node"), lowestMeans("not limited")));
    v.value(&Host::gbytesPerSecondPerGpu,
        Key("gbytes_per_s_per_gpu", "Host to device copy rate per GPU, 10^9 bytes/s",
            said("Host copy rate of", " GB/s per GPU"), upTo(1e6), shown("Copies"), field(1),
            lowestMeans("its PCIe link")));
}

template <class V> [[gnu::cold]] void describe(V &v, Of<Pool>)
{
    v.value(&Pool::id, Key("id", "Name of the pool, unique in the plan; made up where absent", kAlways));
    v.gpu(Key("gpu", "Catalogue id of the GPU type, or an inline object with the catalogue's fields", said("GPU of"),
        kRequired, more("`trainyard-cli catalog gpus` lists them")));
    v.value(&Pool::nodes, Key("nodes", "Nodes in the pool", said("Nodes of"), upTo(1e6), kRequired, shown("Nodes")));
    v.value(&Pool::gpusPerNode,
        Key("gpus_per_node", "GPUs in each node", said("GPUs per node of"), range(1, 1024), kAlways,
            shown("GPUs per node")));
    v.value(&Pool::usdPerGpuHour,
        Key("usd_per_gpu_hour", "Price of one GPU, USD/hour", otherwise("the catalogue's"),
            said("Price of a GPU in", " USD/hour"), upTo(1e6), shown("Price"), field(3, " $ per GPU hour"),
            lowestMeans("catalogue default")));
    v.value(&Pool::ssd, Key("ssd", "Local drives of one node", said("Local drives of")));
    v.value(&Pool::host, Key("host", "Main memory of one node", said("Host memory of")));
}

template <class V> [[gnu::cold]] void describe(V &v, Of<Datacenter>)
{
    v.value(&Datacenter::id, Key("id", "Name that links and pins refer to, unique in the plan", kRequired));
    v.value(&Datacenter::name, Key("name", "Name to show", otherwise("the id"), said("Name of")));
    v.value(&Datacenter::latitude,
        Key("latitude", "Degrees north, for the map", said("Latitude of", "°"), range(-90, 90), shown("Latitude"),
            field(2)));
    v.value(&Datacenter::longitude,
        Key("longitude", "Degrees east, for the map", said("Longitude of", "°"), range(-180, 180), shown("Longitude"),
            field(2)));
    v.value(&Datacenter::fabricGbpsPerGpu,
        Key("fabric_gbps_per_gpu", "NIC bandwidth per GPU and direction, 10^9 bits/s",
            otherwise("the GPU's catalogue entry"), said("Fabric in", " Gbps per GPU"), above(0, 1e6),
            shown("Fabric per GPU"), field(2, " Gbps"), lowestMeans("catalogue default")));
    v.value(&Datacenter::fabricMeasuredGBps,
        Key("fabric_measured_gbytes_per_s",
            "Rate of one GPU in large collectives between nodes as measured, 10^9 bytes/s: the busbw of nccl-tests "
            "over one GPU per node, or over whole nodes divided by the GPUs of a node",
            otherwise("the usual share of the nominal rate"), said("Measured rate of the fabric in", " GB/s per GPU"),
            above(0, 1e5),
            more("at most `fabric_gbps_per_gpu` / 8. With all *g* GPUs of a node in the ring nccl-tests prints what "
                 "the node moves, so divide by *g*. Start-up times stay those of `fabric` ([model.md](model.md) "
                 "\"Collectives\")"),
            shown("Fabric, measured",
                "What one GPU gets in large collectives between nodes: the busbw of nccl-tests with one GPU per node."),
            field(2, " GB/s"), lowestMeans("not given")));
    v.value(&Datacenter::fabric,
        Key("fabric", "Network between the nodes: rdma (InfiniBand, RoCE), or tcp over a cloud's Ethernet",
            said("Kind of fabric in"),
            more("`tcp` is the curve of a machine with as many GPUs ([model.md](model.md) \"Collectives\")")));
    v.value(&Datacenter::usdPerKwh,
        Key("usd_per_kwh", "Electricity price, USD/kWh", said("Electricity in", " USD/kWh"), upTo(1e3),
            shown("Electricity"), field(3, " $/kWh"), lowestMeans("not given")));
    v.value(&Datacenter::kgCo2PerKwh,
        Key("kg_co2_per_kwh", "Carbon intensity of the electricity, kg CO2/kWh", said("Carbon intensity in", " kg/kWh"),
            upTo(1e2), shown("Carbon"), field(3, " kg CO₂/kWh"), lowestMeans("not given")));
    v.value(&Datacenter::pools, Key("pools", "Pools of equal nodes", kAlways));
}

template <class V> [[gnu::cold]] void describe(V &v, Of<WanLink>)
{
    v.between(Key("between", "The two datacenters, by id", said("Ends of link"), kRequired));
    v.value(&WanLink::rttMs,
        Key("rtt_ms", "Round-trip time, milliseconds", said("RTT", " ms"), upTo(1e6), kRequired,
            shown("Round trip", "There and back. Dragging a datacenter on the map sets it by distance."), field(2)));
    v.value(&WanLink::jitterMs,
        Key("jitter_ms", "How much longer than rtt_ms packets take, there and back, milliseconds",
            said("Jitter", " ms"), upTo(1e6),
            more("one way takes (`rtt_ms` + `jitter_ms`) / 2, and a TCP window is sent once in their sum"),
            shown("Jitter", "By how much packets are late, there and back: it adds to the round trip."), field(2)));
    v.value(&WanLink::capacityGbps,
        Key("capacity_gbps", "Bandwidth of the link per direction, all node pairs together, 10^9 bits/s",
            said("Capacity", " Gbps"), above(0, 1e12), kAlways, shown("Capacity, each way"), field(1)));
    v.value(&WanLink::nodePairGbps,
        Key("node_pair_gbps", "Most that one pair of nodes reaches per direction, 10^9 bits/s",
            said("Node pair", " Gbps"), above(0, 1e12), kAlways,
            shown("Per node pair",
                "What a provider lets two machines exchange, each way, however many connections they open."),
            field(2)));
    v.value(&WanLink::tcpWindowMb,
        Key("tcp_window_mb", "Window of one TCP connection, 10^6 bytes", said("TCP window", " MB"), above(0, 1e12),
            kAlways,
            shown("TCP window per connection",
                "Bytes that one connection has under way: it sends at most one window per round trip."),
            field(2)));
    v.value(&WanLink::cloud,
        Key("cloud",
            "Provider whose measured TCP window replaces tcp_window_mb: a catalogue name (aws, gcp, azure); gcp-zones "
            "also "
            "has what machines in its zones reach by message size, which replaces node_pair_gbps",
            said("TCP window as measured on"),
            more("a link between two such zones that states neither takes it ([model.md](model.md) \"Zones\"); "
                 "`trainyard-cli catalog links` lists them"),
            shown("TCP window preset", "A provider whose measured window takes the place of the one above.")));
    v.value(&WanLink::lossRate,
        Key("loss_rate", "Share of the packets that is lost; bounds connections that take loss for congestion",
            said("Packet loss"), upTo(0.5), more("it bounds each connection as `wan.congestion_control` says"),
            shown("Packet loss", "CUBIC slows down at every loss; the strategy panel has BBR, which does not."),
            field(4, " %", 100)));
    v.directions(Key("usd_per_gb", "Egress price, USD per 10^9 bytes, or [first to second, second to first]",
        otherwise("the catalogue's by zone or region, else 0.02"), said("Egress", " USD/GB"), upTo(1e3),
        more("a region is told by a datacenter's id or name (`aws-us-east-1`), a zone to the letter (`us-central1-a`)"),
        shown("Own egress price"), field(4, " $/GB")));
}

template <class V> [[gnu::cold]] void describe(V &v, Of<Cluster>)
{
    v.value(&Cluster::datacenters, Key("datacenters", "Datacenters, in the order in which they are shown", kRequired));
    v.value(&Cluster::wanLinks,
        Key("wan_links", "Links between datacenters; without one, two cannot exchange traffic", kAlways));
}

} // namespace trainyard::keys
