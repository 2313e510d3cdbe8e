// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/live/live_strip.h"

#include "models/live_words.h"
#include "models/text/format.h"
#include "views/live/source_chip.h"
#include "views/parts/text_line.h"
#include "views/run/run_words.h"
#include "views/run/step_scrubber.h"
#include "views/theme/theme.h"

#include <QHBoxLayout>
#include <QLocale>
#include <QPainter>
#include <QPushButton>
#include <QStyle>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

namespace trainyard {

namespace {

constexpr std::size_t kMostChips = 2;
constexpr int kScrubberMost = 320;

/// Those that somebody should look at first.
int urgency(live::SourceState state)
{
    using State = live::SourceState;
    switch (state) {
    case State::Refused:
        return 0;
    case State::BackingOff:
        return 1;
    case State::Stale:
        return 2;
    case State::Connecting:
    case State::Idle:
        return 3;
    case State::Paused:
        return 4;
    case State::Live:
        return 5;
    case State::Ended:
        return 6;
    }
    return 7;
}

QString againstHint(const QString &what, double measured, double predicted, QString (*format)(double))
{
    if (!(predicted > 0))
        return what;
    const QString change = measured > 0 ? formatChange(predicted, measured) : QString();
    const QString plan = LiveStrip::tr("%1; the plan says %2").arg(what, format(predicted));
    return change.isEmpty() ? plan : plan + QStringLiteral(" (") + change + u')';
}

/// As wide as the longest of its texts.
void keepWidth(QPushButton &button, const QStringList &texts)
{
    const QString now = button.text();
    int widest = 0;
    for (const QString &text : texts) {
        button.setText(text);
        widest = std::max(widest, button.sizeHint().width());
    }
    button.setText(now);
    button.setMinimumWidth(widest);
}

} // namespace

LiveStrip::LiveStrip(LiveDocument &live, RunDocument *runs, QWidget *parent)
    : QWidget(parent)
    , pause(new QPushButton(tr("Pause"), this))
    , follow(new QPushButton(tr("Follow"), this))
    , disconnectAll(new QPushButton(tr("Disconnect"), this))
    , open(new QPushButton(tr("Live"), this))
    , scrubber(runs ? new StepScrubber(*runs, StepScrubber::Size::Compact, this) : nullptr)
    , shown(new FigureCell(tr("This step"), this))
    , step(new FigureCell(tr("Newest step"), this))
    , time(new FigureCell(tr("Step time"), this))
    , tokens(new FigureCell(tr("Tokens/s"), this))
    , waiting(new FigureCell(tr("Waiting"), this))
    , memory(new FigureCell(tr("Peak memory"), this))
    , m_live(live)
    , m_runs(runs)
    , m_places(new QHBoxLayout)
    , m_more(new TextLine({}, Ink::Muted, this))
    , m_alarms(new TextLine({}, Ink::Warning, this))
    , m_dropped(new TextLine({}, Ink::Warning, this))
{
    setAccessibleName(tr("The run that goes on"));
    arrange();
    connect(pause, &QPushButton::clicked, this, [this] { m_live.setHeld(!m_live.isHeld()); });
    connect(follow, &QPushButton::clicked, this, [this] { m_live.setFollowing(true); });
    connect(disconnectAll, &QPushButton::clicked, this, [this] { m_live.disconnectAll(); });
    connect(open, &QPushButton::clicked, this, &LiveStrip::pageRequested);
    connect(&live, &LiveDocument::sourcesChanged, this, &LiveStrip::showSources);
    connect(&live, &LiveDocument::stepsChanged, this, &LiveStrip::showFigures);
    connect(&live, &LiveDocument::alarmsChanged, this, &LiveStrip::showFigures);
    connect(&live, &LiveDocument::followingChanged, this, &LiveStrip::showFollowing);
    connect(&live, &LiveDocument::heldChanged, this, &LiveStrip::showSources);
    connect(&live, &LiveDocument::followingChanged, this, &LiveStrip::showPlace);
    if (runs)
        for (const auto signal : { &RunDocument::runChanged, &RunDocument::runUpdated })
            connect(runs, signal, this, &LiveStrip::showPlace);
    if (runs)
        connect(runs, &RunDocument::overlayChanged, this, &LiveStrip::showPlace);
    m_seconds.setInterval(std::chrono::seconds(1));
    connect(&m_seconds, &QTimer::timeout, this, &LiveStrip::showTimes);
    showFollowing();
    showFigures();
    showSources();
    showPlace();
}

void LiveStrip::arrange()
{
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(Theme::kPad + 2, 4, 6, 4);
    column->setSpacing(2);
    auto *row = new QHBoxLayout;
    row->setSpacing(Theme::kPad + 2);
    m_places->setSpacing(Theme::kPad);
    row->addLayout(m_places, 3);
    row->addWidget(m_more);
    if (scrubber) {
        scrubber->setMaximumWidth(kScrubberMost);
        row->addWidget(scrubber, 2);
    }
    row->addStretch(1);
    for (FigureCell *cell : { shown, step, time, tokens, waiting, memory })
        row->addWidget(cell);
    shown->setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Fixed); // its text gives way where there is little room
    auto *buttons = new QHBoxLayout;
    buttons->setSpacing(4);
    for (QPushButton *button : { open, pause, follow, disconnectAll }) {
        button->setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
        buttons->addWidget(button);
    }
    for (const auto &[button, others] : { std::pair { pause, QStringList { tr("Pause"), tr("Resume") } },
             std::pair { follow, QStringList { tr("Follow"), tr("Following") } } })
        keepWidth(*button, others); // what stands beside them stays in its place
    row->addLayout(buttons);
    column->addLayout(row);
    auto *below = new QHBoxLayout; // of one height whatever it says
    below->setSpacing(Theme::kPad);
    below->addWidget(m_alarms, 2);
    below->addWidget(m_dropped, 1);
    column->addLayout(below);
    for (TextLine *line : { m_more, m_alarms, m_dropped })
        line->setFont(uiFont(-1));
    open->setToolTip(tr("Sources, alarms and what-ifs of the run that goes on"));
    disconnectAll->setToolTip(tr("Forgets the sources. What they told stays as a run, which may be saved."));
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
}

void LiveStrip::setOpenShown(bool isShown)
{
    open->setVisible(isShown);
}

void LiveStrip::showSources()
{
    const std::vector<LiveSourceRow> &rows = m_live.sources();
    setVisible(!rows.empty());
    if (rows.empty()) {
        m_seconds.stop();
        return;
    }
    std::vector<const LiveSourceRow *> first;
    for (const LiveSourceRow &row : rows)
        first.push_back(&row);
    std::ranges::stable_sort(first, {}, [](const LiveSourceRow *row) { return urgency(row->status.state); });
    const std::size_t inSight = std::min(kMostChips, first.size());
    while (m_chips.size() < inSight)
        m_places->addWidget(m_chips.emplace_back(new SourceChip(this)), 1);
    for (std::size_t i = 0; i < m_chips.size(); ++i) {
        m_chips[i]->setVisible(i < inSight);
        if (i < inSight)
            m_chips[i]->setRow(*first[i], m_live.isHeld());
    }
    m_more->setVisible(inSight < first.size());
    m_more->setText(tr("and %L1 more").arg(qulonglong(first.size() - inSight)));
    showHeld();
    const bool anyGoesOn = std::ranges::any_of(rows, [](const LiveSourceRow &row) {
        return row.status.state != live::SourceState::Ended && row.status.state != live::SourceState::Refused;
    });
    pause->setEnabled(anyGoesOn);
    const QString lost = m_live.dropped();
    m_dropped->setText(lost);
    m_dropped->setToolTip(lost);
    m_dropped->setAccessibleName(lost.isEmpty() ? tr("Nothing was left out") : tr("Left out: %1").arg(lost));
    m_dropped->setVisible(!lost.isEmpty());
    if (!m_seconds.isActive())
        m_seconds.start();
}

void LiveStrip::showHeld()
{
    const bool isHeld = m_live.isHeld();
    pause->setText(isHeld ? tr("Resume") : tr("Pause"));
    pause->setToolTip(isHeld ? tr("Shows what came meanwhile, and each new step again")
                             : tr("The picture stays as it is. The sources go on, and all they tell is recorded."));
    for (FigureCell *cell : { step, time, tokens, waiting, memory })
        cell->value->setDimmed(isHeld);
}

void LiveStrip::showTimes()
{
    for (SourceChip *chip : m_chips)
        if (!chip->isHidden())
            chip->showTime();
}

void LiveStrip::showFigures()
{
    const std::int64_t newest = m_live.newestStep();
    step->setFigure(newest >= 0 ? QLocale(QLocale::English).toString(qlonglong(newest)) : tr("none yet"));
    watch::Watchman::StepFigures now;
    const bool hasSteps = !m_live.steps().empty();
    if (hasSteps)
        now = m_live.steps().back();
    const watch::Watchman::StepFigures plan =
        m_live.otherJob().isEmpty() ? m_live.predicted() : watch::Watchman::StepFigures {}; // not of this plan
    time->setFigure(hasSteps ? againstPlan(now.seconds, plan.seconds) : QString());
    const bool isCompared = hasSteps && plan.seconds > 0;
    const bool isSame = isCompared && formatChange(plan.seconds, now.seconds) == formatChange(1, 1);
    time->value->setInk(!isCompared || isSame ? Ink::Text : now.seconds > plan.seconds ? Ink::Warning : Ink::Good);
    const auto show = [&](FigureCell *cell, double measured, double predicted, const QString &what,
                          QString (*format)(double)) {
        cell->setFigure(
            hasSteps && measured > 0 ? format(measured) : QString(), againstHint(what, measured, predicted, format));
    };
    show(tokens, now.tokensPerSecond, plan.tokensPerSecond, tr("Tokens per second in the newest step"), &formatCount);
    show(waiting, now.waiting, plan.waiting, tr("Of the newest step, mean over the ranks: waiting for others"),
        &formatSeconds);
    show(memory, now.peakBytes, plan.peakBytes, tr("Most that a GPU held in the newest step"), &formatBytes);
    showPlace();
    const auto holding = std::ranges::count_if(m_live.alarms(), [](const watch::Alarm &one) { return !one.isOver(); });
    m_alarms->setInk(holding > 0 ? Ink::Warning : Ink::Muted);
    if (holding == 0) {
        m_alarms->setText(tr("No alarm"));
        m_alarms->setToolTip({});
        m_alarms->setAccessibleName(m_alarms->text());
        return;
    }
    const QString first = QString::fromStdString(m_live.alarms().front().sentence);
    m_alarms->setText(holding == 1 ? first : first + QStringLiteral("  ·  ") + tr("and %L1 more").arg(holding - 1));
    m_alarms->setToolTip(m_alarms->text());
    m_alarms->setAccessibleName(tr("Alarm: %1").arg(m_alarms->text()));
}

void LiveStrip::showFollowing()
{
    const bool follows = m_live.isFollowing();
    follow->setText(follows ? tr("Following") : tr("Follow"));
    follow->setEnabled(!follows);
    follow->setProperty("isPrimary", !follows);
    follow->style()->unpolish(follow);
    follow->style()->polish(follow);
    follow->setToolTip(follows ? tr("Each new step is shown as it comes; another step chosen ends that")
                               : tr("Goes back to the newest step and stays with it"));
}

void LiveStrip::showPlace()
{
    const bool isHere = m_runs && m_runs->isLive();
    const bool isElsewhere = isHere && !m_live.isFollowing();
    if (scrubber)
        scrubber->setVisible(isHere);
    step->setVisible(!isHere || isElsewhere); // else the field beside it has the number
    for (FigureCell *cell : { time, tokens, waiting, memory }) // of the newest step, which may not be the one in sight
        cell->setVisible(!isElsewhere && !cell->figure().isEmpty());
    const RunOverlayPtr overlay = isElsewhere ? m_runs->overlay() : nullptr;
    shown->setFigure(overlay && overlay->run == m_runs->run() ? shortResult(*overlay) : QString());
}

QStringList LiveStrip::sources() const
{
    QStringList all;
    for (const SourceChip *chip : m_chips)
        if (!chip->isHidden())
            all << chip->text();
    return all;
}

QString LiveStrip::dropped() const
{
    return m_dropped->isHidden() ? QString() : m_dropped->text();
}

void LiveStrip::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(theme().border);
    painter.setBrush(theme().panel);
    painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), Theme::kRadius, Theme::kRadius);
}

} // namespace trainyard
