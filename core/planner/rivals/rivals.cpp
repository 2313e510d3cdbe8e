// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/planner/rivals/rivals.h"

#include "core/base/words.h"
#include "core/planner/rivals/planners.h"
#include "core/planner/search/objective.h"

#include <algorithm>

namespace trainyard {

namespace {

rivals::Ranking rankingBy(
    Rival rival, const rivals::PlannerInput &input, const RivalWishes &wishes, const std::stop_token &stop)
{
    switch (rival) {
    case Rival::Sailor:
        return rivals::bySailor(input, { wishes.wantsCheap, wishes.mostUsd, wishes.mostSeconds }, stop);
    case Rival::Amp:
        return rivals::byAmp(input, stop);
    case Rival::Metis:
        return rivals::byMetis(input, stop);
    case Rival::FlashFlex:
        return rivals::byFlashFlex(input, stop);
    }
    return {};
}

/// Those that count no cost count that of their GPUs, where it is asked for.
void orderByCost(rivals::Ranking &ranking, const rivals::PlannerInput &input)
{
    for (rivals::Choice &choice : ranking.choices)
        if (choice.usd == 0)
            choice.usd = choice.seconds * usdPerSecond(choice, input);
    std::ranges::stable_sort(ranking.choices, {}, &rivals::Choice::usd);
}

std::string sentence(const rivals::Ranking &ranking, const rivals::ChoiceAsPlan &made, std::size_t passedOver)
{
    std::string text = ranking.rule;
    if (!made.lost.empty())
        text += "; " + made.lost;
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
    const auto input = rivals::plannerInputOf(plan, catalogue);
    if (!input) {
        answer.why = input.error().front().what;
        return answer;
    }
    rivals::Ranking ranking = rankingBy(rival, *input, wishes, stop);
    if (wishes.wantsCheap)
        orderByCost(ranking, *input);
    answer.looked = ranking.looked;
    EvaluationWorkspace workspace;
    const std::size_t most = std::min(ranking.choices.size(), kMostTried);
    for (std::size_t i = 0; i < most && !stop.stop_requested(); ++i) {
        const rivals::ChoiceAsPlan made = choiceToPlan(ranking.choices[i], *input, plan);
        const auto evaluation = run(made.plan, Depth::Score, { catalogue, workspace, stop });
        if (!evaluation || !keeps(**evaluation, catalogue, wishes)) {
            ++answer.passedOver;
            continue;
        }
        answer.plan = made.plan;
        answer.evaluation = *evaluation;
        answer.predictedSeconds = ranking.choices[i].seconds;
        answer.why = sentence(ranking, made, answer.passedOver);
        return answer;
    }
    answer.why = ranking.choices.empty()
        ? "no combination fits by its rules"
        : "none of its " + counted(std::int64_t(most), "best combination") + " can run";
    return answer;
}

} // namespace trainyard
