// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/planner/score/scorer.h"

#include "core/planner/score/parts.h"
#include "core/planner/score/reasons.h"
#include "core/planner/score/untabled.h"
#include "core/planner/score/work_bound.h"
#include "core/planner/score/workbench.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace trainyard {

namespace {

constexpr double kRounded = 1 + 1e-9; // whole bytes are counted part by part elsewhere

/// Two numbers as one; ids stay below kMostTable.
constexpr std::uint64_t both(std::uint64_t a, std::uint64_t b)
{
    return a << 32 | b;
}

} // namespace

struct Scorer::Private {
    Private(const SearchSpace &of, const Catalogue &with)
        : space(of)
        , catalogue(with)
        , axes(of)
        , bench(of, with, axes)
        , byWork(space, with)
        , isTabled(axes.isNumbered() && isSimple(*of.base()) && bench.errorsOf(of.baseCandidate()).empty())
    {
    }

    Score score(const Candidate &candidate)
    {
        forgetWhatIsTooMuch();
        if (!isTabled)
            return untabled(candidate);
        const ShapePart &shape =
            shapes.of({ axes.key(Part::Shape, candidate), 0 }, [&] { return shapeOf(candidate); }).value;
        if (shape.wrong)
            return refused(shape.wrong);
        const BatchPart &batch =
            batches
                .of({ axes.key(Part::Batch, candidate), 0 },
                    [&] { return batchPart(bench.plan(axes.representative(Part::Batch, candidate)), reasons); })
                .value;
        if (batch.wrong)
            return refused(batch.wrong);
        return shape.isSimple ? placed(candidate, shape, batch) : untabled(candidate);
    }

    ShapePart shapeOf(const Candidate &candidate)
    {
        const Candidate representative = axes.representative(Part::Shape, candidate);
        const Errors errors = bench.errorsOf(representative);
        const auto stack = bench.of(representative) ? bench.stack() : nullptr;
        const ShapePart shape = shapePart(bench.plan(representative), errors, stack, reasons);
        return shape;
    }

    Score placed(const Candidate &candidate, const ShapePart &shape, const BatchPart &batch)
    {
        const auto &order = orders.of({ axes.key(Part::Order, candidate), 0 }, [&] {
            const Layout &layout = placesOf(candidate, batch, false).value.layout;
            laid = {};
            return orderPart(*bench.of(candidate), layout, reasons);
        });
        if (order.value.wrong)
            return refused(order.value.wrong);
        const bool hasChunks = !order.value.chunks.empty() && order.value.chunks.front().size() > 1;
        const PlacesPart &places = placesOf(candidate, batch, hasChunks).value;
        if (places.wrong)
            return refused(places.wrong);
        if (!order.value.isShared || !places.isAlone)
            return untabled(candidate);
        const ScheduleTraits &schedule = *order.value.schedule;
        const int devices = int(order.value.chunks.size());
        for (const int microBatches : { places.most, places.fewest })
            if (!schedule.microBatches.accepts(microBatches, devices))
                return refused(order.value.wrongCount);
        return combined(candidate, shape, batch, places, order);
    }

    Score combined(const Candidate &candidate, const ShapePart &shape, const BatchPart &batch, const PlacesPart &at,
        const ValueTable<OrderPart>::Entry &order)
    {
        const std::uint64_t ground = both(groundOf(candidate, at), order.id);
        const auto workload = [&]() -> const Workload & {
            WorkloadInTurn &turns = *bench.of(candidate);
            if (turns.now().layout.classes.empty() || laid != std::pair(&at, &order.value)) { // empty: of other names
                Layout layout = at.layout;
                layout.chunks = order.value.chunks;
                turns.at(std::move(layout));
                laid = { &at, &order.value };
            }
            return turns.now();
        };
        const auto make = [&](auto part) {
            const Workload &of = workload();
            StageCoster coster(of);
            return part(of, coster);
        };
        Score score;
        score.gpusUsed = at.layout.gpusUsed;
        const HeldPart &held =
            helds.of({ axes.key(Part::Held, candidate), ground }, [&] { return heldPart(workload(), order.value); })
                .value;
        score.leastFill = held.fill(*shape.stack, {});
        if (isTooLarge(score))
            return score;
        const auto &kept =
            kepts.of({ axes.key(Part::Kept, candidate), ground }, [&] { return keptPart(workload(), order.value); });
        const auto &walk = walkOf(kept.value, order, at.most);
        if (walk.value.wrong)
            return refused(walk.value.wrong);
        const std::vector<double> &live =
            lives
                .of({ kept.id, walk.id },
                    [&] {
                        std::vector<double> most;
                        for (std::size_t k = 0; k < kept.value.kinds.size(); ++k)
                            most.push_back(kept.value.kinds[k].most(walk.value.moments[k]));
                        return most;
                    })
                .value;
        score.leastFill = held.fill(*shape.stack, live);
        score.isFillExact = walk.value.isExact;
        if (isTooLarge(score))
            return score;
        const EndsPart &ends = endings
                                   .of({ axes.key(Part::Ends, candidate), ground },
                                       [&] {
                                           return make([&](const Workload &of, StageCoster &coster) {
                                               return endsPart(of, coster, order.value, reasons);
                                           });
                                       })
                                   .value;
        if (ends.wrong)
            return refused(ends.wrong);
        const auto &work = works.of({ axes.key(Part::Work, candidate), exchangeOf(ground, ends, at.most) }, [&] {
            return make([&](const Workload &of, StageCoster &coster) { return workPart(of, coster, order.value); });
        });
        const TimePart &time =
            times.of({ work.id, std::uint64_t(at.most) }, [&] { return timePart(work.value, order.value, at.most); })
                .value;
        addTimes(score, *shape.stack, work.value, ends, time);
        score.leastComputing = work.value.computing * batch.microBatches;
        return score;
    }

    static bool isTooLarge(Score &score)
    {
        if (score.leastFill > kRounded)
            score.state = ScoreState::TooLarge;
        return score.state == ScoreState::TooLarge;
    }

    /// What follows the last operation of a stage, on each kind of stage.
    static void addTimes(
        Score &score, const StackSpec &stack, const WorkPart &work, const EndsPart &ends, const TimePart &time)
    {
        Seconds atTheEnd;
        double reduced = 0, ended = 0, stepped = 0;
        for (std::size_t k = 0; k < ends.kinds.size(); ++k) {
            atTheEnd = std::max(atTheEnd, shownAtTheEnd(syncAndStepTimes(stack, ends.kinds[k], work.formHiding[k])));
            const SyncAndStepTimes sync = syncAndStepTimes(stack, ends.kinds[k], work.hiding[k]);
            const double end = time.ends[k] + double(sync.reduce - std::min(sync.reduceEarly, sync.reduce)),
                         step = double(sync.optimizer + sync.gather);
            reduced = std::max(reduced, end);
            ended = std::max(ended, end + step);
            stepped = std::max(stepped, step);
        }
        const double end = stack.gradientNormBarrier ? std::max(ended, reduced + stepped) : ended;
        score.leastSeconds = toSeconds(Nanoseconds(end + work.overhead)).value;
        score.estimate = time.form + atTheEnd.value + work.overhead * 1e-9;
    }

    const ValueTable<PlacesPart>::Entry &placesOf(const Candidate &candidate, const BatchPart &batch, bool hasChunks)
    {
        return sites.of({ axes.key(Part::Places, candidate), 2 * std::uint64_t(batch.microBatches) + hasChunks }, [&] {
            laid = {};
            return placesPart(*bench.of(candidate), reasons);
        });
    }
    /// Places by everything but the number of micro-batches.
    std::uint32_t groundOf(const Candidate &candidate, const PlacesPart &at)
    {
        return grounds
            .of({ axes.key(Part::Places, candidate),
                    both(std::uint64_t(at.layout.data), std::uint64_t(at.layout.classes.size())) },
                [] { return 0; })
            .id;
    }
    /// Places, and what operations see of shards: nothing where these are exchanged once.
    std::uint64_t exchangeOf(std::uint64_t ground, const EndsPart &ends, int microBatches)
    {
        const bool isOnce = ends.exchange == ShardExchange::Once;
        const int count = ends.exchange == ShardExchange::InRuns ? microBatches : 0;
        return exchanges
            .of({ ground, isOnce ? 0 : both(std::uint64_t(ends.zeroStage), std::uint64_t(count)) }, [] { return 0; })
            .id;
    }
    const ValueTable<WalkPart>::Entry &walkOf(
        const KeptPart &kept, const ValueTable<OrderPart>::Entry &order, int microBatches)
    {
        const int walked = walkedMicroBatches(order.value, microBatches);
        const std::uint64_t flags = (kept.isRecomputing ? 1u : 0u) | (kept.recomputesLast ? 2u : 0u);
        return walks.of({ order.id, both(std::uint64_t(walked), flags) },
            [&] { return walkPart(order.value, walked, kept.isRecomputing, kept.recomputesLast, reasons); });
    }

    Score untabled(const Candidate &candidate)
    {
        const UntabledScore made = untabledScore(space.plan(candidate), catalogue);
        Score score;
        score.tasks = made.tasks;
        if (!made.wrong.empty()) {
            score.state = ScoreState::Refused;
            score.reason = reasons.of(made.wrong);
            return score;
        }
        score.gpusUsed = made.gpusUsed;
        score.leastSeconds = made.leastSeconds;
        score.estimate = made.estimate;
        score.leastFill = made.leastFill;
        isTooLarge(score);
        return score;
    }

    static Score refused(std::uint16_t reason)
    {
        Score score;
        score.state = ScoreState::Refused;
        score.reason = reason;
        return score;
    }

    void forgetWhatIsTooMuch()
    {
        if (std::max({ works.size(), helds.size(), kepts.size(), times.size(), lives.size(), shapes.size(),
                sites.size(), exchanges.size() })
            < kMostTable)
            return;
        laid = {};
        clear(shapes, batches, sites, grounds, orders, walks, exchanges, works, helds, kepts, endings, times, lives);
    }
    static void clear(auto &...tables) { (tables.clear(), ...); }

    const SearchSpace &space;
    const Catalogue &catalogue;
    ScoreAxes axes;
    ScoreBench bench;
    WorkBound byWork;
    bool isTabled;
    std::pair<const PlacesPart *, const OrderPart *> laid; // what the bench's layout is
    Reasons reasons;
    ValueTable<ShapePart> shapes;
    ValueTable<BatchPart> batches;
    ValueTable<PlacesPart> sites;
    ValueTable<int> grounds, exchanges;
    ValueTable<OrderPart> orders;
    ValueTable<WalkPart> walks;
    ValueTable<WorkPart> works;
    ValueTable<HeldPart> helds;
    ValueTable<KeptPart> kepts;
    ValueTable<EndsPart> endings;
    ValueTable<TimePart> times; // of works
    ValueTable<std::vector<double>> lives; // bytes on each kind of stage: of kepts and walks
};

Scorer::Scorer(const SearchSpace &space, const Catalogue &catalogue)
    : m_private(std::make_unique<Private>(space, catalogue))
{
}
Scorer::~Scorer() = default;

Score Scorer::score(const Candidate &candidate)
{
    return m_private->score(candidate);
}

LeastWork Scorer::leastWork(const Candidate &candidate)
{
    return m_private->isTabled ? LeastWork {} : m_private->byWork.of(candidate);
}

void Scorer::scoreRange(std::uint64_t first, std::span<Score> scores)
{
    Candidate candidate = m_private->space.candidate(first);
    const std::vector<Axis> &axes = m_private->space.axes();
    for (Score &score : scores) {
        score = m_private->score(candidate);
        for (std::size_t axis = candidate.size(); axis-- > 0;) {
            if (++candidate[axis] < axes[axis].values.size())
                break;
            candidate[axis] = 0;
        }
    }
}

const std::string &Scorer::reasonText(std::uint16_t reason) const
{
    return m_private->reasons.text(reason);
}

bool Scorer::isTabled() const
{
    return m_private->isTabled;
}

} // namespace trainyard
