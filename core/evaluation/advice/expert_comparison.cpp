// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/advice/expert_comparison.h"

#include "core/base/words.h"
#include "core/facts/hardware/published_gains.h"
#include "core/facts/plan/enum_names.h"

#include <algorithm>
#include <future>
#include <mutex>

namespace trainyard {

namespace {

/// One thing to work out, and where it belongs.
struct Part {
    enum class Kind : std::uint8_t { Iteration, Point, Published } kind = Kind::Iteration;
    std::size_t place = 0; // an exchange, or an axis
    double x = 0;
};

class ExpertComparer {
public:
    ExpertComparer(const PlanPtr &plan, const Catalogue &catalogue, RunPool &pool, std::stop_token stop,
        const std::function<void(const ExpertComparison &)> &found)
        : m_plan(plan)
        , m_catalogue(catalogue)
        , m_pool(pool)
        , m_stop(std::move(stop))
        , m_found(found)
    {
        m_result.plan = plan;
    }

    void compare()
    {
        m_opened = openLayers(m_plan, context(&m_pool.cache()));
        m_result.nothing = m_opened.layers ? whyNothingToGain(m_opened.first()) : m_opened.why;
        if (m_result.nothing.empty())
            m_result.nothing = m_opened.notCompared;
        if (m_opened.layers)
            m_result.group = m_opened.first().request.group;
        if (!m_result.nothing.empty() || m_stop.stop_requested())
            return put([&] { m_result.isComplete = true; });
        const Ablation now = ablationOf(*m_opened.layers);
        const std::vector<Part> parts = partsToDo(now);
        put([&] { m_result.now = now; });
        m_pool.threads().each(parts.size(), [&](std::size_t i) { work(parts[i], now); });
        put([&] { m_result.isComplete = true; });
    }

private:
    [[nodiscard]] RunContext context(RunCache *cache = nullptr) const
    {
        return { .catalogue = m_catalogue, .workspace = m_pool.workspace(), .stop = m_stop, .cache = cache };
    }

    /// What is looked at first comes first.
    [[nodiscard]] std::vector<Part> partsToDo(const Ablation &now)
    {
        std::vector<Part> parts;
        for (std::size_t step = 0; step < kExchangeSteps; ++step)
            parts.push_back({ Part::Kind::Iteration, step, 0 });
        for (std::size_t axis = 0; axis < kExpertAxes; ++axis) {
            const double x = placeOn(ExpertAxis(axis), *m_plan, m_opened);
            m_result.curves[axis].current = x;
            for (const double value : valuesAround(ExpertAxis(axis), x, *m_plan))
                parts.push_back({ Part::Kind::Point, axis, value });
        }
        if (m_opened.nicGbps > 0 && sparedTraffic(now))
            parts.push_back({ Part::Kind::Published, 0, 0 });
        return parts;
    }

    void work(const Part &part, const Ablation &now)
    {
        if (m_stop.stop_requested())
            return;
        if (part.kind == Part::Kind::Point) {
            addPoint(ExpertAxis(part.place), part.x, now);
        } else if (part.kind == Part::Kind::Published) {
            const auto gain = publishedGain(m_plan, m_opened.nicGbps, publishedExpertGains().iteration, context());
            put([&] { m_result.published = gain; });
        } else if (const auto evaluation =
                       run(planWith(m_plan, ExchangeStep(part.place)), Depth::Score, context(&m_pool.cache()))) {
            put([&] { m_result.iteration[part.place] = (*evaluation)->metrics.iterationTime; });
        }
    }

    void addPoint(ExpertAxis axis, double x, const Ablation &now)
    {
        const double from = placeOn(axis, *m_plan, m_opened);
        ExpertPoint point { .x = x, .isCurrent = x == from, .steps = now };
        if (axis == ExpertAxis::TensorRanks) {
            point.steps = ablationOf(withTensorGroup(*m_opened.layers, int(x), m_plan->moe));
        } else if (!point.isCurrent) {
            const OpenedLayers opened = openLayers(planWith(m_plan, m_catalogue, axis, from, x), context());
            if (!opened.layers)
                return;
            point.steps = ablationOf(*opened.layers);
        }
        put([&] {
            std::vector<ExpertPoint> &points = m_result.curves[std::size_t(axis)].points;
            points.insert(std::ranges::lower_bound(points, x, {}, &ExpertPoint::x), point);
        });
    }

    void put(const std::function<void()> &change)
    {
        const std::lock_guard lock(m_mutex);
        if (m_stop.stop_requested())
            return;
        change();
        m_found(m_result);
    }

    const PlanPtr m_plan;
    const Catalogue &m_catalogue;
    RunPool &m_pool;
    const std::stop_token m_stop;
    const std::function<void(const ExpertComparison &)> &m_found;
    OpenedLayers m_opened; // not changed while several threads work
    std::mutex m_mutex;
    ExpertComparison m_result; // under m_mutex while they do
};

} // namespace

void compareExperts(const PlanPtr &plan, const Catalogue &catalogue, RunPool &pool, const std::stop_token &stop,
    const std::function<void(const ExpertComparison &)> &found)
{
    ExpertComparer(plan, catalogue, pool, stop, found).compare();
}

ExpertComparison expertComparison(
    const PlanPtr &plan, const Catalogue &catalogue, RunPool &pool, const std::stop_token &stop)
{
    ExpertComparison last;
    last.plan = plan;
    std::promise<void> done;
    pool.threads().submit(WorkPool::Rank::Search, [&] {
        try {
            compareExperts(
                plan, catalogue, pool, stop, [&last](const ExpertComparison &comparison) { last = comparison; });
            done.set_value();
        } catch (...) {
            done.set_exception(std::current_exception());
        }
    });
    done.get_future().get();
    return last;
}

std::string tableOf(const ExpertComparison &comparison, char separator)
{
    std::string text;
    const auto row = [&](const std::vector<std::string> &cells) {
        text += joined(cells, std::string_view(&separator, 1)) + '\n';
    };
    row({ "axis", "x", "is_plan", "exchange", "dispatch", "forward_pieces", "backward_pieces", "nic_bytes",
        "between_nodes_s", "inside_nodes_s", "copies_s", "exchange_s", "layer_forward_s", "layer_backward_s",
        "exposed_s" });
    for (std::size_t axis = 0; axis < kExpertAxes; ++axis)
        for (const ExpertPoint &point : comparison.curves[axis].points)
            for (std::size_t s = 0; s < kExchangeSteps; ++s) {
                const StepTimes &step = point.steps[s];
                std::vector<std::string> cells { toString(ExpertAxis(axis)), formatted("%.9g", point.x),
                    point.isCurrent ? "1" : "0", toString(ExchangeStep(s)), toString(step.dispatch),
                    std::to_string(step.forwardPieces), std::to_string(step.backwardPieces) };
                for (const double number : { step.nicBytes, step.allToAll.value, step.inside.value, step.copies.value,
                         step.exchange.value, step.forward.value, step.backward.value, step.exposed.value })
                    cells.push_back(formatted("%.9g", number));
                row(cells);
            }
    return text;
}

} // namespace trainyard
