// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panels/problems_panel.h"

#include "models/text/format.h"
#include "views/panels/effect_text.h"
#include "views/panels/hover_button.h"
#include "views/panels/severity_mark.h"
#include "views/parts/panel_parts.h"
#include "views/theme/theme.h"

#include <QHBoxLayout>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>
#include <utility>

namespace trainyard {

namespace {

QString describe(const Confidence &confidence, std::optional<double> iteration)
{
    QString text = QObject::tr("No problems");
    if (iteration && *iteration > 0 && confidence.iterationLow && confidence.iterationHigh) {
        const double low = *confidence.iterationLow / *iteration - 1, high = *confidence.iterationHigh / *iteration - 1;
        const QString range = std::abs(high + low) < 0.005
            ? QStringLiteral("±%1 %").arg(high * 100, 0, 'f', 0)
            : QStringLiteral("−%1/+%2 %").arg(-low * 100, 0, 'f', 0).arg(high * 100, 0, 'f', 0);
        text += QObject::tr(" · predicted %1").arg(range);
    }
    if (!confidence.label.empty())
        text += QStringLiteral(" (%1)").arg(QString::fromStdString(confidence.label));
    return text;
}

} // namespace

ProblemsPanel::ProblemsPanel(QWidget *parent)
    : QWidget(parent)
    , m_list(panelLayout(this))
{
    setFont(uiFont(-1));
    setAccessibleName(tr("Problems"));
    refresh();
}

void ProblemsPanel::setShown(const Shown &shown)
{
    const bool hadMore = bringsMoreFixes(), wasPreviewing = m_previewing;
    if (std::exchange(m_plan, shown.base) != shown.base)
        m_previewing = false; // what the pointer rests on was a fix of the plan before
    const bool isListed = std::exchange(m_evaluation, shown.evaluation) == shown.evaluation && m_errors.empty()
        && shown.errors.empty() && !wasPreviewing && bringsMoreFixes() == hadMore;
    m_errors = shown.errors;
    if (m_previewing)
        return;
    if (!isListed)
        return refresh();
    for (const FixLine &fix : m_fixes) // the moment after an edit
        fix.button->setEnabled(canFix());
    showEffects();
}

void ProblemsPanel::setEffects(EffectTablePtr effects)
{
    const bool hadMore = bringsMoreFixes();
    m_effects = std::move(effects);
    if (!m_previewing && bringsMoreFixes() && !hadMore)
        refresh();
    else
        showEffects();
}

/// Some fixes take a search for which no edit waits: they come with the effects.
bool ProblemsPanel::bringsMoreFixes() const
{
    const auto count = [](const std::vector<Problem> &problems) {
        std::size_t fixes = 0;
        for (const Problem &problem : problems)
            fixes += problem.fixes.size();
        return fixes;
    };
    return areEffectsOfPlan() && m_effects->problems.size() == m_evaluation->problems.size()
        && count(m_effects->problems) > count(m_evaluation->problems);
}

bool ProblemsPanel::areEffectsOfPlan() const
{
    return m_effects && m_effects->plan && m_evaluation && m_evaluation->plan
        && (m_effects->plan == m_evaluation->plan || *m_effects->plan == *m_evaluation->plan);
}

/// In place: a button that the pointer rests on stays where it is.
void ProblemsPanel::showEffects()
{
    const bool areOfPlan = areEffectsOfPlan();
    for (const FixLine &line : m_fixes) {
        const Effect *effect = m_effects && (areOfPlan || m_previewing) ? m_effects->effectOf(*line.plan) : nullptr;
        const EffectText shown = effect ? effectText(*effect, *m_effects, EffectFocus::Time) : EffectText {};
        line.change->setText(shown.text);
        line.change->setInk(shown.ink);
        line.because->setText(effect ? becauseText(*effect) : QString());
        line.because->setToolTip(effect ? effectSentence(*effect, m_effects->iterationTime) : QString());
        line.change->setToolTip(line.because->toolTip());
    }
}

void ProblemsPanel::setOutdated(bool isOutdated)
{
    if (std::exchange(m_isOutdated, isOutdated) != isOutdated)
        dimLines(*this, isOutdated);
}

void ProblemsPanel::refresh()
{
    if (!m_errors.empty()) {
        std::vector<Problem> problems;
        for (const Error &error : m_errors)
            problems.push_back({ Severity::Blocking, toString(error), error.where, {} });
        list(problems, {}, std::nullopt);
    } else if (m_evaluation) {
        list(bringsMoreFixes() ? m_effects->problems : m_evaluation->problems, m_evaluation->metrics.confidence,
            m_evaluation->metrics.iterationTime);
    } else {
        clearLayout(m_list);
        m_fixes.clear();
    }
}

bool ProblemsPanel::canFix() const
{
    return !m_plan || !m_evaluation || m_evaluation->plan == m_plan
        || (m_evaluation->plan && *m_evaluation->plan == *m_plan);
}

void ProblemsPanel::list(
    const std::vector<Problem> &problems, const Confidence &confidence, std::optional<double> iteration)
{
    std::vector<Problem> sorted = problems;
    std::ranges::stable_sort(sorted, std::greater {}, &Problem::severity);
    clearLayout(m_list);
    m_fixes.clear();
    if (sorted.empty())
        m_list->addWidget(sentenceLine(int(SeverityMark::Kind::Fine), describe(confidence, iteration)));
    for (const Problem &problem : sorted) {
        m_list->addWidget(sentenceLine(int(SeverityMark::of(problem.severity)), QString::fromStdString(problem.text)));
        for (const Fix &fix : problem.fixes)
            m_list->addWidget(fixLine(fix));
    }
    m_list->addStretch(1);
    showEffects();
    if (m_isOutdated)
        dimLines(*this, true);
}

QWidget *ProblemsPanel::sentenceLine(int kind, const QString &text)
{
    auto *line = new QWidget(this);
    auto *row = new QHBoxLayout(line);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(Theme::kGap);
    row->addWidget(new SeverityMark(SeverityMark::Kind(kind), line), 0, Qt::AlignTop);
    auto *sentence = new TextLine(text, kind == int(SeverityMark::Kind::Fine) ? Ink::Muted : Ink::Text, line);
    sentence->setWrapped(true);
    row->addWidget(sentence, 1);
    return line;
}

QWidget *ProblemsPanel::fixLine(const Fix &fix)
{
    const QString label = QString::fromStdString(fix.label);
    auto *line = new QWidget(this);
    auto *button = new HoverButton(label, line);
    button->setAccessibleName(tr("Fix: %1").arg(label));
    auto *row = new QHBoxLayout(line);
    row->setContentsMargins(SeverityMark::kSize + Theme::kGap, 0, 0, 0);
    button->setEnabled(canFix());
    row->setSpacing(Theme::kGap);
    auto *change = new TextLine({}, Ink::Muted, line);
    auto *because = new TextLine({}, Ink::Muted, line);
    because->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    row->addWidget(button);
    row->addWidget(change);
    row->addWidget(because, 1);
    m_fixes.push_back({ fix.plan, button, change, because });
    connect(button, &QPushButton::clicked, this, [this, plan = fix.plan, label] {
        m_previewing = false;
        Q_EMIT editCommitted(plan, label);
    });
    connect(button, &HoverButton::entered, this, [this, button, plan = fix.plan, label] {
        if (!button->isEnabled())
            return;
        m_previewing = true;
        Q_EMIT editPreviewed(plan, label);
    });
    connect(button, &HoverButton::left, this, &ProblemsPanel::endPreview);
    return line;
}

QString ProblemsPanel::toTsv() const
{
    QString text = tr("problem\tfix\tchange\tbecause\n");
    for (const Problem &problem : bringsMoreFixes() ? m_effects->problems
            : m_evaluation                          ? m_evaluation->problems
                                                    : std::vector<Problem>()) {
        const QString sentence = QString::fromStdString(problem.text);
        text += sentence + QStringLiteral("\t\t\t\n");
        for (const Fix &fix : problem.fixes) {
            const Effect *effect = m_effects ? m_effects->effectOf(*fix.plan) : nullptr;
            text += sentence + u'\t' + QString::fromStdString(fix.label) + u'\t'
                + (effect ? effectText(*effect, *m_effects, EffectFocus::Time).text : QString()) + u'\t'
                + (effect ? becauseText(*effect) : QString()) + u'\n';
        }
    }
    return text;
}

void ProblemsPanel::endPreview()
{
    if (!m_previewing)
        return;
    m_previewing = false;
    Q_EMIT editCancelled();
    refresh();
}

} // namespace trainyard
