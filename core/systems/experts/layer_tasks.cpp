// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/systems/experts/layer_tasks.h"

#include <algorithm>

namespace trainyard {

namespace {

constexpr int kSharedKinds = 5; // multiprocessors, NIC, NVLink, WAN, memory: one for each stream
// What is sent is read, and as much comes in and is written.
constexpr double kMemoryBytesOfWireByte = 2;

/// Where there is no way at all times are infinite: a layer of them must still fit into ticks.
Nanoseconds ticksOf(Seconds time, int pieces = 1)
{
    constexpr Nanoseconds kMost = kLongestTime / 64;
    return std::min(toNanoseconds(time), kMost / pieces);
}

LayerStream streamOf(Way way)
{
    switch (way) {
    case Way::Nvlink:
        return LayerStream::Nvlink;
    case Way::Nic:
        return LayerStream::Nic;
    case Way::Wan:
        return LayerStream::Wan;
    case Way::Memory:
        return LayerStream::Copy;
    }
    return LayerStream::Copy;
}

} // namespace

LayerTasks::LayerTasks(const LayerWork &site, int ranks, double loss)
    : m_site(site)
    , m_ranks(ranks)
    , m_loss(loss)
    , m_lastKernel(static_cast<std::size_t>(ranks), kNoSpan)
    , m_lastLaunched(static_cast<std::size_t>(ranks), kNoSpan)
{
    m_table.clear();
    for (int rank = 0; rank < ranks; ++rank) {
        for (int kind = 0; kind < kSharedKinds; ++kind)
            m_table.linkCapacity.push_back(capacityOf(static_cast<LayerStream>(kind)));
        m_kernelFlow.push_back(static_cast<std::uint32_t>(m_table.flows.size()));
        // Kernels count their speed: 1 is all multiprocessors.
        m_table.flows.push_back({ .rateCap = 1, .links = { linkOf(rank, LayerStream::Compute) }, .takes = {} });
    }
}

double LayerTasks::capacityOf(LayerStream stream) const
{
    switch (stream) {
    case LayerStream::Compute:
        return 1;
    case LayerStream::Nic:
        return m_site.nicBandwidth;
    case LayerStream::Nvlink:
        return m_site.nvlinkBandwidth;
    case LayerStream::Wan:
        return m_site.wanBandwidth;
    case LayerStream::Copy:
        return m_site.memoryBandwidth;
    }
    return 0;
}

std::uint32_t LayerTasks::linkOf(int rank, LayerStream stream) const
{
    return static_cast<std::uint32_t>(rank * kSharedKinds) + static_cast<std::uint32_t>(stream);
}

std::uint32_t LayerTasks::resourceOf(const LayerTrack &track)
{
    const auto at = std::ranges::find(m_tracks, track);
    if (at == m_tracks.end())
        m_tracks.push_back(track);
    return static_cast<std::uint32_t>(std::ranges::find(m_tracks, track) - m_tracks.begin());
}

LayerTasks::Id LayerTasks::add(
    std::uint32_t resource, std::uint32_t taskClass, const LayerTask &about, const Waits &after)
{
    const auto id = static_cast<Id>(m_about.size());
    m_resource.push_back(resource);
    m_class.push_back(taskClass);
    m_about.push_back(about);
    for (const Id before : after)
        m_waits.push_back({ id, before, false });
    return id;
}

void LayerTasks::kernel(const LayerTask &about, Seconds time, int pieces, const Waits &after)
{
    const auto rank = static_cast<std::size_t>(about.track.rank);
    const Nanoseconds duration = ticksOf(time, pieces);
    const bool isOnGpu = about.step != LayerStep::HostWait && duration > 0;
    const std::uint32_t taskClass = m_table.add(WorkKind::Forward, duration, 0, isOnGpu ? m_kernelFlow[rank] : kNoSpan);
    LayerTask described = about;
    described.alone = time.value;
    const Id id = add(resourceOf(about.track), taskClass, described, after);
    if (m_site.launchesInOrder && m_lastLaunched[rank] != kNoSpan)
        m_waits.push_back({ id, m_lastLaunched[rank], true });
    m_lastLaunched[rank] = id;
    if (about.track.lane == 0)
        m_lastKernel[rank] = id;
}

LayerTasks::Waits LayerTasks::lastKernel(int rank) const
{
    const Id last = m_lastKernel[static_cast<std::size_t>(rank)];
    return last == kNoSpan ? Waits {} : Waits { last };
}

LayerTasks::Waits LayerTasks::lastKernels() const
{
    Waits all;
    std::ranges::copy_if(m_lastKernel, std::back_inserter(all), [](Id id) { return id != kNoSpan; });
    return all;
}

std::uint32_t LayerTasks::holdOf(const Exchange &exchange, int rank)
{
    const double held = m_site.multiprocessors > 0 ? exchange.sms / m_site.multiprocessors : 0;
    const double share = std::min(1.0, held + m_loss);
    if (share <= 0)
        return kNoSpan;
    m_table.holds.push_back({ linkOf(rank, LayerStream::Compute), share });
    return static_cast<std::uint32_t>(m_table.holds.size()) - 1;
}

std::uint32_t LayerTasks::flowOf(const Leg &leg, int rank, int pieces, std::uint32_t hold)
{
    Flow flow { .bytes = leg.bytes / pieces, .rateCap = 1, .links = {}, .takes = {}, .hold = hold };
    const double counted = std::max(leg.bytes, leg.nvlinkToo);
    if (counted > 0 && leg.moving.value > 0) {
        flow.rateCap = counted / leg.moving.value;
        const auto take = [&](LayerStream stream, double bytes) {
            const double capacity = capacityOf(stream);
            if (capacity > 0 && bytes > 0) {
                flow.links.push_back(linkOf(rank, stream));
                flow.takes.push_back(std::min(bytes / counted, capacity / flow.rateCap));
            }
        };
        const bool isOnNvlink = leg.way == Way::Nvlink, isInMemory = leg.way == Way::Memory;
        take(streamOf(leg.way), leg.bytes + (isOnNvlink ? leg.nvlinkToo : 0));
        if (!isOnNvlink)
            take(LayerStream::Nvlink, leg.nvlinkToo);
        if (!isInMemory)
            take(LayerStream::Copy, kMemoryBytesOfWireByte * leg.bytes);
    }
    m_table.flows.push_back(std::move(flow));
    return static_cast<std::uint32_t>(m_table.flows.size()) - 1;
}

LayerTasks::Id LayerTasks::addLag(Id moved, std::uint32_t lagClass)
{
    constexpr int kNoLane = -1;
    LayerTask about = m_about[moved];
    about.isLag = true;
    about.lag = 0;
    about.bytes = about.nvlinkToo = about.alone = 0;
    about.track.lane = kNoLane;
    m_tracks.push_back(about.track);
    return add(static_cast<std::uint32_t>(m_tracks.size()) - 1, lagClass, about, { moved });
}

LayerTasks::Moving LayerTasks::begin(const Exchange &exchange, LayerStep step, bool isBackward)
{
    Moving moving { .exchange = &exchange, .about = {}, .pieces = std::max(1, exchange.pieces) };
    moving.about.step = step;
    moving.about.isBackward = isBackward;
    const auto pieces = static_cast<std::size_t>(moving.pieces);
    moving.done.assign(static_cast<std::size_t>(m_ranks) * exchange.legs.size() * pieces, kNoSpan);
    moving.ready.resize(pieces);
    for (int rank = 0; rank < m_ranks; ++rank) {
        const std::uint32_t hold = holdOf(exchange, rank);
        std::uint32_t startFlow = kNoSpan;
        if (hold != kNoSpan) {
            startFlow = static_cast<std::uint32_t>(m_table.flows.size());
            m_table.flows.push_back({ .rateCap = 1, .links = {}, .takes = {}, .hold = hold });
        }
        std::array<int, kWayCount> lanes {};
        for (const Leg &leg : exchange.legs) {
            moving.resource.push_back(
                resourceOf({ rank, streamOf(leg.way), lanes[static_cast<std::size_t>(leg.way)]++ }));
            const Nanoseconds start = ticksOf(leg.start, moving.pieces);
            const Nanoseconds whole = ticksOf(leg.start + leg.moving / moving.pieces, moving.pieces);
            const Nanoseconds lag = ticksOf(leg.lag, moving.pieces);
            moving.lagClass.push_back(lag > 0 ? m_table.add(WorkKind::Overhead, lag, 0, startFlow) : kNoSpan);
            moving.startClass.push_back(start > 0 ? m_table.add(WorkKind::Overhead, start, 0, startFlow) : kNoSpan);
            moving.moveClass.push_back(m_table.add(WorkKind::Collective, std::max<Nanoseconds>(0, whole - start),
                leg.bytes / moving.pieces, flowOf(leg, rank, moving.pieces, hold)));
        }
    }
    return moving;
}

void LayerTasks::launchLegs(Moving &moving, int piece, Legs which, const Waits &ready)
{
    const std::vector<Leg> &legs = moving.exchange->legs;
    const auto pieces = static_cast<std::size_t>(moving.pieces);
    const auto own = static_cast<std::size_t>(piece);
    moving.ready[own] = ready;
    for (int rank = 0; rank < m_ranks; ++rank)
        for (std::size_t leg = 0; leg < legs.size(); ++leg) {
            const bool isFirst = legs[leg].after < 0;
            if (isFirst != (which == Legs::First))
                continue;
            const std::size_t first = static_cast<std::size_t>(rank) * legs.size(), at = first + leg;
            Waits waits;
            if (isFirst)
                waits = ready;
            else if (!legs[leg].afterAll)
                waits = { moving.done[(first + static_cast<std::size_t>(legs[leg].after)) * pieces + own] };
            else
                for (std::size_t before = first; before < at; ++before)
                    waits.push_back(moving.done[before * pieces + own]);
            if (isFirst && piece > 0 && moving.exchange->piecesWait)
                addPassed(waits, moving, rank, piece - 1);
            LayerTask about = moving.about;
            about.track = m_tracks[moving.resource[at]];
            about.piece = piece;
            about.bytes = legs[leg].bytes / moving.pieces;
            about.nvlinkToo = legs[leg].nvlinkToo / moving.pieces;
            about.alone = (legs[leg].start + legs[leg].moving / moving.pieces + legs[leg].lag).value;
            about.lag = ticksOf(legs[leg].lag, moving.pieces);
            const auto begun = static_cast<Id>(m_about.size());
            if (moving.startClass[at] != kNoSpan) {
                about.isStart = true;
                add(moving.resource[at], moving.startClass[at], about, waits);
                about.isStart = false;
                waits.clear();
            }
            Id &done = moving.done[at * pieces + own];
            done = add(moving.resource[at], moving.moveClass[at], about, waits);
            if (moving.lagClass[at] != kNoSpan)
                done = addLag(done, moving.lagClass[at]);
            Id &launched = m_lastLaunched[static_cast<std::size_t>(rank)];
            if (m_site.launchesInOrder && launched != kNoSpan)
                m_waits.push_back({ begun, launched, true });
            launched = begun;
        }
}

void LayerTasks::launchPiece(Moving &moving, int piece, const Waits &ready)
{
    launchLegs(moving, piece, Legs::First, ready);
    launchLegs(moving, piece, Legs::Others, ready);
}

void LayerTasks::launch(Moving &moving, const Waits &ready)
{
    if (moving.exchange->piecesWait) {
        for (int piece = 0; piece < moving.pieces; ++piece)
            launchPiece(moving, piece, ready);
        return;
    }
    for (const Legs which : { Legs::First, Legs::Others })
        for (int piece = 0; piece < moving.pieces; ++piece)
            launchLegs(moving, piece, which, ready);
}

void LayerTasks::addPassed(Waits &waits, const Moving &moving, int rank, int piece) const
{
    const std::size_t legs = moving.exchange->legs.size();
    const Waits &ready = moving.ready[static_cast<std::size_t>(piece)];
    if (legs == 0)
        waits.insert(waits.end(), ready.begin(), ready.end());
    for (std::size_t leg = 0; leg < legs; ++leg)
        waits.push_back(
            moving.done[(static_cast<std::size_t>(rank) * legs + leg) * static_cast<std::size_t>(moving.pieces)
                + static_cast<std::size_t>(piece)]);
}

void LayerTasks::beside(const std::vector<Leg> &legs, bool isBackward)
{
    for (const Leg &leg : legs)
        for (int rank = 0; rank < m_ranks; ++rank) {
            LayerTask about;
            about.step = LayerStep::Beside;
            about.isBackward = isBackward;
            about.track = { rank, streamOf(leg.way), 0 };
            while (std::ranges::find(m_tracks, about.track) != m_tracks.end())
                ++about.track.lane;
            about.bytes = leg.bytes;
            about.nvlinkToo = leg.nvlinkToo;
            about.alone = leg.alone().value;
            const std::uint32_t resource = resourceOf(about.track);
            const Nanoseconds start = ticksOf(leg.start), whole = ticksOf(leg.start + leg.moving);
            if (start > 0) {
                about.isStart = true;
                add(resource, m_table.add(WorkKind::Overhead, start), about, {});
                about.isStart = false;
            }
            add(resource,
                m_table.add(WorkKind::Collective, std::max<Nanoseconds>(0, whole - start), leg.bytes,
                    flowOf(leg, rank, 1, kNoSpan)),
                about, {});
        }
}

LayerGraph LayerTasks::finish() &&
{
    GraphBuilder builder(std::move(m_table));
    builder.reserve(m_about.size());
    for (const LayerTrack &track : m_tracks)
        builder.resource({ .stage = track.rank });
    for (std::size_t i = 0; i < m_about.size(); ++i)
        builder.task(m_resource[i], m_class[i], { static_cast<std::int32_t>(i), 0, false });
    for (const Wait &wait : m_waits)
        builder.after(
            wait.task, wait.before, kNoLag, wait.isForStart ? GraphBuilder::From::Start : GraphBuilder::From::End);
    // What is launched waits for what was launched before it, so there is no circle.
    return { std::move(builder).finish().value(), std::move(m_about), m_ranks };
}

} // namespace trainyard
