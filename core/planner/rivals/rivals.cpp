// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/planner/rivals/rivals.h"

#include "core/base/words.h"
#include "core/planner/rivals/planners.h"
#include "core/planner/search/objective.h"

#include <algorithm>

namespace trainyard {

namespace {

rivals::Ranking rankingBy(Rival rival, const rivals::View &view, const RivalWishes &wishes, const std::stop_token &stop)
{
    switch (rival) {
    case Rival::Sailor:
        return rivals::bySailor(view, { wishes.wantsCheap, wishes.mostUsd, wishes.mostSeconds }, stop);
    case Rival::Amp:
        return rivals::byAmp(view, stop);
    case Rival::Metis:
        return rivals::byMetis(view, stop);
    case Rival::FlashFlex:
        return rivals::byFlashFlex(view, stop);
    }
    return {};
}

/// Those that count no cost count that of their GPUs, where it is asked for.
void orderByCost(rivals::Ranking &ranking, const rivals::View &view)
{
    for (rivals::Choice &choice : ranking.choices)
        if (choice.usd == 0)
            choice.usd = choice.seconds * usdPerSecond(choice, view);
    std::ranges::stable_sort(ranking.choices, {}, &rivals::Choice::usd);
}

std::string sentence(const rivals::Ranking &ranking, const rivals::Expressed &expressed, std::size_t passedOver)
{
    std::string text = ranking.rule;
    if (!expressed.lost.empty())
        text += "; " + expressed.lost;
    if (passedOver > 0)
        text += "; " + counted(std::int64_t(passedOver), "better-ranked one") + " cannot run here";
    return text;
}

bool keeps(const Evaluation &evaluation, const Catalogue &catalogue, const RivalWishes &wishes)
{
    const auto figures = evaluation.feasible() ? figuresOf(evaluation, catalogue) : std::nullopt;
    return figures && figures->seconds <= wishes.mostSeconds.value_or(figures->seconds)
        && (!wishes.mostUsd || figures->usdPerHour * figures->seconds / 3600 <= *wishes.mostUsd);
}

} // namespace

const char *toString(Rival rival)
{
    switch (rival) {
    case Rival::Sailor:
        return "Sailor";
    case Rival::Amp:
        return "AMP";
    case Rival::Metis:
        return "Metis";
    case Rival::FlashFlex:
        return "FlashFlex";
    }
    return "";
}

RivalAnswer planBy(
    Rival rival, const PlanPtr &plan, const Catalogue &catalogue, std::stop_token stop, const RivalWishes &wishes)
{
    RivalAnswer answer;
    const auto view = rivals::viewOf(plan, catalogue);
    if (!view) {
        answer.why = view.error().front().what;
        return answer;
    }
    rivals::Ranking ranking = rankingBy(rival, *view, wishes, stop);
    if (wishes.wantsCheap)
        orderByCost(ranking, *view);
    answer.looked = ranking.looked;
    EvaluationWorkspace workspace;
    const std::size_t most = std::min(ranking.choices.size(), kMostTried);
    for (std::size_t i = 0; i < most && !stop.stop_requested(); ++i) {
        const rivals::Expressed expressed = express(ranking.choices[i], *view, plan);
        const auto evaluation = run(expressed.plan, Depth::Score, { catalogue, workspace, stop });
        if (!evaluation || !keeps(**evaluation, catalogue, wishes)) {
            ++answer.passedOver;
            continue;
        }
        answer.plan = expressed.plan;
        answer.evaluation = *evaluation;
        answer.predictedSeconds = ranking.choices[i].seconds;
        answer.why = sentence(ranking, expressed, answer.passedOver);
        return answer;
    }
    answer.why = ranking.choices.empty()
        ? "no combination fits by its rules"
        : "none of its " + counted(std::int64_t(most), "best combination") + " can run";
    return answer;
}

} // namespace trainyard
