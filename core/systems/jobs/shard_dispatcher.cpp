// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/systems/jobs/shard_dispatcher.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace trainyard {

ShardDispatcher::ShardDispatcher(const JobSet &set, const JobRules &rules, ClassTable &table)
    : m_set(set)
    , m_rules(rules)
    , m_progress(set, rules.remaining)
    , m_classes(set, table)
    , m_hosts(set)
    , m_policy(makePolicy(set, rules, m_progress))
    , m_gpus(set.gpus.size())
    , m_jobs(set.jobs.size())
    , m_returning(m_classes.units(), 0)
    , m_times(set.jobs.size())
    , m_touched((set.gpus.size() + 63) / 64, 0)
    , m_idle(m_touched.size(), 0)
    , m_free(m_progress.groups(), 0)
{
    for (std::uint32_t job = 0; job < m_jobs.size(); ++job)
        if (m_progress.runs(job))
            m_arrivals.emplace_back(std::max<Nanoseconds>(0, toNanoseconds(Seconds { set.jobs[job].arrival })), job);
    std::ranges::sort(m_arrivals);
    m_resourceOf.reserve(expects());
    for (std::uint32_t gpu = 0; gpu < m_gpus.size(); ++gpu)
        m_idle[gpu / 64] |= std::uint64_t(1) << (gpu % 64);
}

void ShardDispatcher::ended(Dispatch &at, std::uint32_t task)
{
    const std::uint32_t resource = m_resourceOf[task], gpu = resource / kResources;
    touch(gpu);
    switch (resource % kResources) {
    case Compute:
        return computed(at, gpu, task);
    case Load:
        return loaded(at, gpu, task);
    default:
        return stored(at, gpu, task);
    }
}

void ShardDispatcher::computed(Dispatch &at, std::uint32_t index, std::uint32_t task)
{
    GpuState &gpu = m_gpus[index];
    gpu.ended = std::exchange(gpu.now, {});
    gpu.computes = false;
    const std::uint32_t job = gpu.ended.job;
    gpu.computed = m_jobs[job].computed = { at.now(), task };
    m_times[job].end = at.now();
    m_times[job].computing += at.now() - gpu.began;
    m_hosts.change(at.now(), job, facts(gpu.ended).hostAfter);
    ++m_jobs[job].stores; // until settle() says that there is none
    m_progress.end(job);
    if (m_progress.isDone(job)) {
        settle(at, index);
        leaveIfDone(at.now(), job);
    } else if (staysThere()) {
        m_jobs[job].isPicked = gpu.next.job == job; // nobody else may pick it
    } else if (gpu.next.job != job) {
        becomeFree(job);
    }
}

void ShardDispatcher::loaded(Dispatch &at, std::uint32_t index, std::uint32_t task)
{
    GpuState &gpu = m_gpus[index];
    gpu.isLoading = false;
    GpuState::Unit &unit = gpu.loadsNext ? gpu.next : gpu.now;
    unit.weights = GpuState::Weights::There;
    unit.loaded = gpu.loaded = { at.now(), task };
}

void ShardDispatcher::stored(Dispatch &at, std::uint32_t index, std::uint32_t task)
{
    GpuState &gpu = m_gpus[index];
    const std::uint32_t job = gpu.stores.front().job;
    gpu.used -= gpu.stores.front().freed;
    if (gpu.stores.front().weights != kNoSpan)
        --m_returning[gpu.stores.front().weights];
    gpu.stores.pop();
    gpu.isStoring = false;
    gpu.stored = m_jobs[job].stored = { at.now(), task };
    --m_jobs[job].stores;
    if (m_jobs[job].isPicked)
        touch(m_jobs[job].gpu);
    leaveIfDone(at.now(), job);
}

void ShardDispatcher::leaveIfDone(Nanoseconds now, std::uint32_t job)
{
    JobState &state = m_jobs[job];
    if (state.stores == 0 && m_progress.isDone(job) && !std::exchange(state.hasLeft, true))
        m_hosts.leave(now, job);
}

void ShardDispatcher::becomeFree(std::uint32_t job)
{
    m_jobs[job].isPicked = false;
    m_policy->add(job);
    const std::uint32_t group = m_progress.groupOf(job);
    ++m_free[group];
    if (std::ranges::find(m_woken, group) == m_woken.end())
        m_woken.push_back(group);
}

std::uint64_t ShardDispatcher::woken(std::size_t word) const
{
    if (m_idle[word] == 0 || m_woken.empty())
        return 0;
    if (followsList()) // what is next there may have been free for long, behind what another GPU has now taken
        return m_idle[word];
    std::uint64_t gpus = 0;
    for (const std::uint32_t group : m_woken)
        if (m_free[group] > 0)
            gpus |= m_progress.gpusOf(group)[word];
    return gpus & m_idle[word];
}

void ShardDispatcher::arrive(Dispatch &at)
{
    const std::size_t before = m_arrived;
    while (m_arrived < m_arrivals.size() && m_arrivals[m_arrived].first <= at.now())
        m_hosts.arrive(m_arrivals[m_arrived++].second);
    if (m_arrived < m_arrivals.size() && (m_arrived > before || at.now() == 0))
        at.wakeAt(m_arrivals[m_arrived].first);
    for (const std::uint32_t job : m_hosts.admit(at.now()))
        becomeFree(job);
}

void ShardDispatcher::choose(Dispatch &at)
{
    arrive(at);
    // A GPU may find that what a lower one waits for need not travel: that one has another look.
    do
        for (std::size_t w = 0; w < m_touched.size(); ++w) {
            const std::uint64_t touched = std::exchange(m_touched[w], 0);
            std::uint64_t later = ~std::uint64_t(0); // GPUs that have not had their turn
            while (const std::uint64_t bits = (touched | woken(w)) & later) {
                const int first = std::countr_zero(bits);
                later = first == 63 ? 0 : ~std::uint64_t(0) << (first + 1);
                advance(at, static_cast<std::uint32_t>(64 * w) + static_cast<std::uint32_t>(first));
            }
        }
    while (std::ranges::any_of(m_touched, [](std::uint64_t bits) { return bits != 0; }));
    m_woken.clear();
}

void ShardDispatcher::advance(Dispatch &at, std::uint32_t index)
{
    GpuState &gpu = m_gpus[index];
    if (gpu.now.isNone()) {
        if (!gpu.next.isNone()) {
            gpu.now = std::exchange(gpu.next, {});
            gpu.loadsNext = false;
        } else {
            gpu.now = pick(index, gpu.ended);
        }
    }
    settle(at, index);
    store(at, index);
    load(at, index);
    if (compute(at, index) && m_rules.looksAhead()) {
        gpu.next = pick(index, gpu.now);
        load(at, index);
    }
    const std::uint64_t bit = std::uint64_t(1) << (index % 64);
    m_idle[index / 64] = gpu.now.isNone() ? m_idle[index / 64] | bit : m_idle[index / 64] & ~bit;
}

GpuState::Unit ShardDispatcher::pick(std::uint32_t index, const GpuState::Unit &before)
{
    const GpuState &gpu = m_gpus[index];
    const bool goesOn = gpu.computes && m_progress.hasUnpicked(gpu.last);
    GpuState::Unit unit;
    const bool stays = staysThere() && gpu.last != kNoJob && m_progress.hasUnpicked(gpu.last);
    unit.job = stays ? gpu.last : m_policy->take(index, gpu.last, goesOn);
    if (unit.isNone())
        return unit;
    if (!m_jobs[unit.job].isPicked && !stays) {
        const std::uint32_t group = m_progress.groupOf(unit.job);
        if (--m_free[group] == 0 && !followsList())
            std::erase(m_woken, group);
    }
    JobState &job = m_jobs[unit.job];
    job.gpu = index;
    job.isPicked = true;
    unit.minibatch = static_cast<std::int32_t>(m_progress.picked(unit.job) / m_progress.units(unit.job));
    unit.unit = m_progress.pick(unit.job);
    if (before.job == unit.job) {
        unit.hasInput = true;
        unit.isContinued = m_classes.facts(unit.job, unit.unit, before.isContinued).mayContinue
            && m_classes.bytes(unit.job, unit.unit, true).need <= m_set.gpus[index].memory;
    }
    if (toLoad(unit) > 0)
        unit.weights = GpuState::Weights::Needed;
    return unit;
}

double ShardDispatcher::toLoad(const GpuState::Unit &unit) const
{
    const UnitBytes &there = facts(unit).bytes;
    return (unit.isContinued ? 0 : there.held) + (unit.hasInput ? 0 : there.input);
}

/// What the unit that has just ended leaves on the GPU, now that it is known what comes after it.
void ShardDispatcher::settle(Dispatch &at, std::uint32_t index)
{
    GpuState &gpu = m_gpus[index];
    if (gpu.ended.isNone())
        return;
    const GpuState::Unit unit = std::exchange(gpu.ended, {});
    const Keeps keeps = gpu.now.job != unit.job ? Keeps::Nothing
        : gpu.now.isContinued                   ? Keeps::WeightsAndInput
                                                : Keeps::Input;
    if (keeps != Keeps::Nothing)
        at.reclass(gpu.task, m_classes.compute(unit.job, unit.unit, m_set.gpus[index].kind, unit.isContinued, keeps));
    const UnitBytes &there = facts(unit).bytes;
    gpu.used += there.left(keeps) - there.need;
    if (there.stored(keeps) == 0) {
        JobState &job = m_jobs[unit.job];
        if (--job.stores == 0 && job.isPicked && job.gpu != index)
            touch(job.gpu);
        return;
    }
    const bool returns = keeps != Keeps::WeightsAndInput && there.owed > 0;
    if (returns)
        ++m_returning[facts(unit).firstOfShard];
    gpu.stores.push({ unit.job, m_classes.store(unit.job, unit.unit, routeOf(unit.job, index), unit.isContinued, keeps),
        there.freed(keeps), unit.minibatch, facts(unit).shard, returns ? facts(unit).firstOfShard : kNoSpan,
        { at.now(), gpu.task } });
    m_times[unit.job].stored += there.stored(keeps);
}

void ShardDispatcher::store(Dispatch &at, std::uint32_t index)
{
    GpuState &gpu = m_gpus[index];
    if (gpu.isStoring || gpu.stores.isEmpty() || (!m_set.isFullDuplex && gpu.isLoading))
        return;
    const StoreQueue::Store &next = gpu.stores.front();
    const std::uint32_t cause = latest({ next.unit, gpu.stored, m_set.isFullDuplex ? TaskEnd {} : gpu.loaded });
    begin(at, index, Store, next.taskClass, { next.minibatch, next.shard }, cause);
    gpu.isStoring = true;
}

bool ShardDispatcher::mayLoad(const GpuState &gpu, const GpuState::Unit &unit) const
{
    if (unit.weights != GpuState::Weights::Needed
        || (unit.hasInput ? m_returning[facts(unit).firstOfShard] : m_jobs[unit.job].stores) > 0)
        return false;
    if (&unit == &gpu.next) {
        // Weights that the running unit is about to change come back to the host first.
        if (!m_rules.doubleBuffer || (unit.hasInput && facts(unit).shard == facts(gpu.now).shard))
            return false;
    }
    return gpu.used + toLoad(unit) <= m_set.gpus[static_cast<std::size_t>(&gpu - m_gpus.data())].memory;
}

void ShardDispatcher::load(Dispatch &at, std::uint32_t index)
{
    GpuState &gpu = m_gpus[index];
    if (gpu.isLoading || (!m_set.isFullDuplex && gpu.isStoring)
        || (!m_rules.doubleBuffer && (gpu.isStoring || !gpu.stores.isEmpty())))
        return;
    const bool isNext = !mayLoad(gpu, gpu.now);
    GpuState::Unit &unit = isNext ? gpu.next : gpu.now;
    if (isNext && !mayLoad(gpu, unit))
        return;
    const JobState &job = m_jobs[unit.job];
    const std::uint32_t cause = latest({ gpu.loaded, job.stored, job.computed, gpu.stored, gpu.computed });
    begin(at, index, Load, m_classes.load(unit.job, unit.unit, routeOf(unit.job, index), unit.hasInput),
        { unit.minibatch, facts(unit).shard }, cause);
    gpu.used += toLoad(unit);
    gpu.isLoading = true;
    gpu.loadsNext = isNext;
    unit.weights = GpuState::Weights::OnTheirWay;
    m_times[unit.job].loaded += toLoad(unit);
}

/// Starts the unit that is next where it can; true where it has.
bool ShardDispatcher::compute(Dispatch &at, std::uint32_t index)
{
    GpuState &gpu = m_gpus[index];
    const GpuState::Unit &unit = gpu.now;
    if (gpu.computes || unit.isNone() || unit.weights != GpuState::Weights::There)
        return false;
    const UnitBytes &there = facts(unit).bytes;
    const double more = there.need - there.present();
    if (gpu.used + more > m_set.gpus[index].memory)
        return false;
    gpu.used += more;
    const int kind = m_set.gpus[index].kind;
    const std::uint32_t cause = latest({ unit.loaded, gpu.computed, m_jobs[unit.job].computed, gpu.stored });
    gpu.task = begin(at, index, Compute, m_classes.compute(unit.job, unit.unit, kind, unit.isContinued, Keeps::Nothing),
        { unit.minibatch, facts(unit).shard }, cause);
    gpu.computes = true;
    gpu.last = unit.job;
    gpu.began = at.now();
    JobTimes &times = m_times[unit.job];
    if (times.start == JobTimes::kNever)
        times.start = at.now();
    if (index < 64) {
        m_jobs[unit.job].ranOn |= std::uint64_t(1) << index;
        return true;
    }
    const auto place = std::ranges::lower_bound(times.gpus, static_cast<int>(index));
    if (place == times.gpus.end() || *place != static_cast<int>(index))
        times.gpus.insert(place, static_cast<int>(index));
    return true;
}

std::uint32_t ShardDispatcher::begin(Dispatch &at, std::uint32_t gpu, Resource resource, std::uint32_t taskClass,
    GraphBuilder::Tag tag, std::uint32_t cause)
{
    const std::uint32_t on = kResources * gpu + resource, task = at.begin(on, taskClass, tag, cause);
    m_resourceOf.push_back(on); // tasks are numbered as they begin
    return task;
}

std::string ShardDispatcher::leftOver() const
{
    for (std::uint32_t job = 0; job < m_jobs.size(); ++job)
        if (m_progress.runs(job) && !m_progress.isDone(job))
            return "job " + m_set.jobs[job].name + " has " + std::to_string(m_progress.all(job) - m_progress.ended(job))
                + " units left that no GPU takes";
    return {};
}

std::size_t ShardDispatcher::expects() const
{
    std::int64_t units = 0;
    for (std::uint32_t job = 0; job < m_jobs.size(); ++job)
        units += m_progress.all(job);
    return static_cast<std::size_t>(units) * (m_set.routes.empty() ? 1 : kResources);
}

void ShardDispatcher::tell(JobRun &run)
{
    for (std::size_t job = 0; job < m_times.size(); ++job) {
        std::vector<int> first;
        for (std::uint64_t bits = m_jobs[job].ranOn; bits != 0; bits &= bits - 1)
            first.push_back(std::countr_zero(bits));
        m_times[job].gpus.insert(m_times[job].gpus.begin(), first.begin(), first.end());
        m_times[job].loaded *= m_set.jobs[job].minibatchesPerUnit;
        m_times[job].stored *= m_set.jobs[job].minibatchesPerUnit;
    }
    run.jobs = std::move(m_times);
    run.hosts = m_hosts.takeCurves();
    run.hostPeaks = m_hosts.peaks();
}

} // namespace trainyard
