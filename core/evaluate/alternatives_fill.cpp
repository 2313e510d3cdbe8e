// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluate/alternatives_internal.h"
#include "core/workload/model_math.h"

namespace trainyard::detail {

namespace {

using Alternatives = std::vector<Alternative>;

constexpr double kLargestServed = 8e10;       // parameters: beside training there is no room for more

/// Where a plan says nothing of what is served, something to start from: Llama 3 8B over 8 GPUs, which is 2 GB on each,
/// and ten requests a second.
void fillBlanks(BubbleFill &fill)
{
    if (fill.model.empty()) {
        fill.model = "llama-3-8b";
        fill.stages = fill.stages > 1 ? fill.stages : 8;
    }
    if (fill.requestsPerSecond <= 0 && fill.arrivals != Arrivals::Trace)
        fill.requestsPerSecond = 10;
}

void addServedModel(Alternatives &out, const Plan &plan, const Catalogue &catalogue)
{
    std::vector<Choice<std::string>> choices;
    bool isListed = false;
    for (const ModelSpec &model : catalogue.models) {
        isListed = isListed || model.id == plan.bubbleFill.model;
        if (model.id == plan.bubbleFill.model || totalParameters(model) <= kLargestServed)
            choices.push_back({model.id, model.id, model.name.empty() ? model.id : model.name, {}});
    }
    if (!isListed)
        choices.insert(choices.begin(), {plan.bubbleFill.model, plan.bubbleFill.model, plan.bubbleFill.model.empty() ? "none" : plan.bubbleFill.model, {}});
    addGroup(out, plan, "fill_model", "Served model", choices, plan.bubbleFill.model,
             [](Plan &p, const std::string &id) { p.bubbleFill.model = id; });
}

} // namespace

void addBubbleFill(Alternatives &out, const Plan &plan, const Catalogue &catalogue)
{
    const BubbleFill &fill = plan.bubbleFill;
    const std::vector<Choice<bool>> onOff{{false, "false", "off", {}}, {true, "true", "on", {}}};
    addGroup(out, plan, "bubble_fill", "Prefill in bubbles", onOff, fill.enabled, [](Plan &p, bool on) {
        p.bubbleFill.enabled = on;
        if (on)
            fillBlanks(p.bubbleFill);
    });
    if (!fill.enabled)
        return;
    addServedModel(out, plan, catalogue);
    addGroup(out, plan, "fill_stages", "Served over", numbers({1, 2, 4, 8, 16, fill.stages}), fill.stages,
             [](Plan &p, int n) { p.bubbleFill.stages = n; });
    const std::vector<Choice<Arrivals>> arrivals{{Arrivals::Poisson, "poisson", "Poisson", {}}, {Arrivals::Constant, "constant", "constant", {}},
                                                 {Arrivals::Bursty, "bursty", "bursty", {}},
                                                 {Arrivals::Trace, "trace", "trace", fill.trace.empty() ? "no trace file is named" : ""}};
    addGroup(out, plan, "fill_arrivals", "Arrivals", arrivals, fill.arrivals, [](Plan &p, Arrivals a) { p.bubbleFill.arrivals = a; });
    addGroup(out, plan, "fill_chaining", "Chaining", onOff, fill.chaining, [](Plan &p, bool on) { p.bubbleFill.chaining = on; });
    addGroup(out, plan, "fill_first_token", "First token from decode", onOff, fill.firstTokenFromDecode,
             [](Plan &p, bool on) { p.bubbleFill.firstTokenFromDecode = on; });
}

} // namespace trainyard::detail
