// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/run/step_scrubber.h"

#include "views/theme/theme.h"

#include <QHBoxLayout>
#include <QPushButton>
#include <QSlider>
#include <QToolButton>

#include <algorithm>
#include <limits>

namespace trainyard {

namespace {

constexpr int kFieldWidth = 84, kPages = 10;

int shownNumber(const RunStep &step)
{
    return int(std::clamp<std::int64_t>(step.number, 0, std::numeric_limits<int>::max()));
}

} // namespace

StepField::StepField(QWidget *parent)
    : QSpinBox(parent)
{
    setKeyboardTracking(false); // "12" is no step 1 on its way
    setAccessibleName(tr("Step"));
    setFixedWidth(kFieldWidth);
    connect(this, &QSpinBox::valueChanged, this, [this](int number) {
        if (m_isTelling || !m_run || m_run->steps.empty())
            return;
        const int index = indexOf(number);
        showIndex(index);
        emit indexChosen(index);
    });
}

void StepField::setRun(const RunPtr &run)
{
    m_run = run;
    if (isTyping())
        return;
    m_isTelling = true;
    if (run && !run->steps.empty())
        setRange(shownNumber(run->steps.front()), shownNumber(run->steps.back()));
    else
        setRange(0, 0);
    m_isTelling = false;
}

void StepField::showIndex(int index)
{
    m_index = index;
    if (!m_run || index < 0 || std::size_t(index) >= m_run->steps.size())
        return;
    m_isTelling = true;
    setValue(shownNumber(m_run->steps[std::size_t(index)]));
    m_isTelling = false;
}

int StepField::indexOf(int number) const
{
    const std::vector<RunStep> &steps = m_run->steps;
    const auto after = std::ranges::lower_bound(steps, std::int64_t(number), {}, &RunStep::number);
    if (after == steps.end())
        return int(steps.size()) - 1;
    const bool isBefore = after != steps.begin() && number - (after - 1)->number < after->number - number;
    return int(after - steps.begin()) - (isBefore ? 1 : 0);
}

void StepField::stepBy(int steps)
{
    if (!m_run || m_run->steps.empty())
        return;
    const int index = std::clamp(m_index + steps, 0, int(m_run->steps.size()) - 1);
    showIndex(index);
    selectAll();
    emit indexChosen(index);
}

QAbstractSpinBox::StepEnabled StepField::stepEnabled() const
{
    StepEnabled enabled = StepNone;
    if (m_run && m_index > 0)
        enabled |= StepDownEnabled;
    if (m_run && m_index + 1 < int(m_run->steps.size()))
        enabled |= StepUpEnabled;
    return enabled;
}

StepScrubber::StepScrubber(RunDocument &runs, Size size, QWidget *parent)
    : QWidget(parent)
    , slider(new QSlider(Qt::Horizontal, this))
    , field(new StepField(this))
    , previous(new QToolButton(this))
    , next(new QToolButton(this))
    , typical(new QPushButton(tr("Typical"), this))
    , slowest(new QPushButton(tr("Slowest"), this))
    , m_runs(runs)
{
    auto *row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(size == Size::Full ? Theme::kGap : 4);
    row->addWidget(previous);
    row->addWidget(slider, 1);
    row->addWidget(next);
    row->addWidget(field);
    row->addWidget(typical);
    row->addWidget(slowest);
    typical->setVisible(size == Size::Full);
    slowest->setVisible(size == Size::Full);
    slider->setAccessibleName(tr("Steps of the run"));
    slider->setMinimumWidth(120);
    previous->setText(QStringLiteral("‹"));
    next->setText(QStringLiteral("›"));
    previous->setAccessibleName(tr("Previous step"));
    next->setAccessibleName(tr("Next step"));
    previous->setToolTip(tr("Previous step (<)"));
    next->setToolTip(tr("Next step (>)"));
    typical->setToolTip(tr("The step nearest to the median"));
    slowest->setToolTip(tr("The slowest step that is no warm-up, checkpoint or restart"));
    connect(slider, &QSlider::valueChanged, this, &StepScrubber::choose);
    connect(field, &StepField::indexChosen, this, &StepScrubber::choose);
    connect(previous, &QToolButton::clicked, this, [this] { choose(m_index - 1); });
    connect(next, &QToolButton::clicked, this, [this] { choose(m_index + 1); });
    connect(typical, &QPushButton::clicked, this, [this] { m_runs.setStep({}); });
    connect(slowest, &QPushButton::clicked, this, [this] { choose(m_runs.slowestStep()); });
    connect(&runs, &RunDocument::runChanged, this, &StepScrubber::showRun);
    connect(&runs, &RunDocument::runUpdated, this, &StepScrubber::showRun);
    connect(&runs, &RunDocument::optionsChanged, this, &StepScrubber::showStep);
    connect(slider, &QSlider::sliderReleased, this, &StepScrubber::showRun);
    showRun();
}

void StepScrubber::showRun()
{
    const RunPtr &run = m_runs.run();
    const int count = run ? int(run->steps.size()) : 0;
    field->setRun(run);
    if (!slider->isSliderDown()) { // of a live run steps come while one is held
        slider->blockSignals(true);
        slider->setRange(0, std::max(0, count - 1));
        slider->setPageStep(std::max(1, count / kPages));
        slider->blockSignals(false);
    }
    for (QWidget *widget : std::initializer_list<QWidget *> { slider, field, typical, slowest })
        widget->setEnabled(count > 1);
    showStep();
}

void StepScrubber::showStep()
{
    const RunPtr &run = m_runs.run();
    const RunStep *step = m_runs.step();
    m_index = step ? int(step - run->steps.data()) : -1;
    if (!slider->isSliderDown()) {
        slider->blockSignals(true);
        slider->setValue(std::max(0, m_index));
        slider->blockSignals(false);
    }
    if (!field->isTyping())
        field->showIndex(m_index);
    previous->setEnabled(m_index > 0);
    next->setEnabled(run && m_index >= 0 && m_index + 1 < int(run->steps.size()));
}

void StepScrubber::choose(int index)
{
    const RunPtr &run = m_runs.run();
    if (run && index >= 0 && std::size_t(index) < run->steps.size())
        m_runs.setStep(run->steps[std::size_t(index)].number);
}

} // namespace trainyard
