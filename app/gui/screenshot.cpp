// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/screenshot.h"

#include "core/base/printable.h"
#include "views/experts/experts_page.h"
#include "views/jobs/jobs_page.h"
#include "views/window/file_actions.h"
#include "views/window/planner_actions.h"
#include "views/window/run_lessons.h"
#include "views/window/sweep_actions.h"

#include <QCoreApplication>
#include <QFileInfo>
#include <QImage>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace trainyard {

namespace {

// The effects of the switches come after the evaluation; a picture without them would show a window half filled.
constexpr int kSettleMs = 400, kEffectsMs = 8000, kGiveUpMs = 120000, kStepsMs = 20000;
constexpr int kLookMs = 500, kMostLooks = 12; // at sources that are over or out of reach and tell nothing

} // namespace

Screenshot::Screenshot(MainWindow &window, QString path, QSize size, Page page)
    : QObject(&window)
    , m_window(window)
    , m_path(std::move(path))
    , m_size(size)
{
    m_settle.setSingleShot(true);
    m_giveUp.setSingleShot(true);
    connect(&m_settle, &QTimer::timeout, this, &Screenshot::take);
    connect(&m_giveUp, &QTimer::timeout, this, [this] { fail(tr("the evaluation did not finish in time")); });
    m_giveUp.start(kGiveUpMs);
    const auto cannotOpen = [this](const QString &, const Errors &errors) {
        QStringList lines;
        for (const Error &error : errors)
            lines << QString::fromStdString(toString(error));
        fail(lines.join(QStringLiteral("\ntrainyard: ")));
    };
    connect(&window.document(), &PlanDocument::openFailed, this, cannotOpen);
    connect(&window.sweepActions().results(), &SweepResults::failed, this, cannotOpen); // else a sample stands there
    connect(&window.files(), &FileActions::runComesFirst, this, &Screenshot::awaitPlanOfRun);
    connect(&window.files(), &FileActions::recordingsDropped, this, [this] { awaitRun(false); });
    if (page == Page::Experts) {
        connect(&window.experts(), &ExpertsPage::completed, this, [this] { settle(kSettleMs); });
        return;
    }
    if (page == Page::Jobs) {
        connect(&window.jobs(), &JobsPage::completed, this, [this] { settle(kSettleMs); });
        return;
    }
    if (page == Page::Planner) { // the search begins with the evaluated plan, and the picture has the steps of its best
        PlanSearch &search = window.plannerActions().search();
        connect(
            &window.bridge(), &EvaluationBridge::evaluationFinished, &search, [&search] { search.start(); },
            Qt::SingleShotConnection);
        connect(&search, &PlanSearch::ended, this, [this] { settle(kStepsMs); });
        connect(&search, &PlanSearch::stepsChanged, this, [this, &search] {
            if (search.steps() && search.steps()->isComplete)
                settle(kSettleMs);
        });
        return;
    }
    if (page == Page::Validation) {
        connect(&window.validationRunner(), &ValidationRunner::finished, this, [this] { settle(kSettleMs); });
        return;
    }
    connect(&window.bridge(), &EvaluationBridge::evaluationFinished, this, [this] { settle(kEffectsMs); });
    connect(&window.effects(), &StrategyEffects::effectsChanged, this, [this](const EffectTablePtr &effects) {
        if (effects->complete && effects->plan == m_window.document().plan() && m_window.bridge().evaluation())
            settle(kSettleMs);
    });
    connect(&window.bridge(), &EvaluationBridge::evaluationFailed, this, [this](const PlanPtr &, const Errors &errors) {
        fail(errors.empty() ? tr("the plan cannot be evaluated") : QString::fromStdString(toString(errors.front())));
    });
}

void Screenshot::awaitRun(bool withReference)
{
    m_awaitsRun = true;
    m_awaitsReference = withReference;
    connect(&m_window.runs(), &RunDocument::overlayChanged, this, [this](const RunOverlayPtr &overlay) {
        m_awaitsRun = !overlay || !overlay->evaluation || overlay->evaluation->plan != m_window.document().plan();
        m_awaitsReference = m_awaitsReference && !(overlay && overlay->reference);
        settle(kSettleMs);
    });
    connect(&m_window.runs(), &RunDocument::readingFailed, this, [this](const Errors &errors) {
        fail(
            errors.empty() ? tr("nothing of the run could be read") : QString::fromStdString(toString(errors.front())));
    });
}

void Screenshot::awaitPlanOfRun()
{
    m_awaitsPlan = true;
    connect(
        &m_window.lessons().planOfRun(), &PlanOfRun::changed, this,
        [this] {
            m_awaitsPlan = false; // and the run that lies under the plan of before is not pictured
            const RunOverlayPtr &overlay = m_window.runs().overlay();
            m_awaitsRun = !overlay || !overlay->evaluation || overlay->evaluation->plan != m_window.document().plan();
            settle(kSettleMs);
        },
        Qt::SingleShotConnection);
}

void Screenshot::awaitLive(bool withWhatIfs)
{
    m_awaitsLive = true;
    m_asksWhatIfs = withWhatIfs;
    m_look.setInterval(kLookMs);
    connect(&m_look, &QTimer::timeout, this, &Screenshot::lookAtLive);
    m_look.start();
}

/// A replay is over, or nothing can be reached; whoever goes on for ever is pictured after some time.
void Screenshot::lookAtLive()
{
    LiveDocument &live = m_window.live();
    const RunOverlayPtr &overlay = m_window.runs().overlay();
    using enum live::SourceState;
    const auto isBeginning = [](live::SourceState state) { return state == Idle || state == Connecting; };
    const bool isReplayed = std::ranges::none_of(live.sources(), [&](const LiveSourceRow &row) {
        const live::SourceState state = row.status.state;
        return row.status.address.type == live::SourceType::Replay && (isBeginning(state) || state == Live);
    });
    // A listener may wait for ever to be connected to, a log to be written.
    const bool awaitsOthers = std::ranges::any_of(live.sources(), [&](const auto &row) {
        return row.status.address.type != live::SourceType::Replay && isBeginning(row.status.state);
    }) && ++m_waits < kMostLooks;
    const bool isOver = isReplayed && !awaitsOthers;
    const bool isWatched = !live.steps().empty() && live.steps().back().number == live.newestStep();
    const bool isShown = isWatched && overlay && overlay->evaluation && overlay->step >= 0
        && overlay->run->steps[std::size_t(overlay->step)].number == live.newestStep();
    const bool isNothing = isOver && live.newestStep() < 0 && ++m_looks >= kMostLooks;
    if (!isOver || !(isShown || isNothing))
        return;
    if (m_asksWhatIfs && live.canAskWhatIf() && !std::exchange(m_hasAsked, true))
        return live.askWhatIf();
    if (m_asksWhatIfs && live.questions().isAsking())
        return;
    m_look.stop();
    m_awaitsLive = false;
    settle(kSettleMs);
}

void Screenshot::settle(int milliseconds)
{
    if (!m_awaitsRun && !m_awaitsReference && !m_awaitsPlan && !m_awaitsLive)
        m_settle.start(milliseconds);
    else
        m_settle.stop();
}

void Screenshot::take()
{
    m_window.resize(m_size);
    QCoreApplication::processEvents();
    const qreal scale = m_window.devicePixelRatioF(); // the picture is as sharp as the screen would be
    QImage image(m_size * scale, QImage::Format_ARGB32_Premultiplied);
    image.setDevicePixelRatio(scale);
    image.fill(m_window.palette().color(QPalette::Window));
    m_window.render(&image);
    if (!image.save(m_path, "PNG"))
        fail(tr("%1 could not be written").arg(m_path));
    else
        QCoreApplication::exit(0);
}

void Screenshot::fail(const QString &why)
{
    std::fprintf(stderr, "trainyard: %s\n", printable(why.toStdString(), LineBreaks::Kept).c_str());
    QCoreApplication::exit(2);
}

} // namespace trainyard
