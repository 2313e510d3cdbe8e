#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What was recorded of a real run, beside the plan that the window shows: reads files and folders in the background
// with progress, makes a run of them, and lays it under each new evaluation. A second recording may be the reference
// instead of the plan. Watched folders are read again when their files change. Nothing here belongs to the plan, so
// nothing is undone. GUI thread.

#include "core/runs/overlay/run_overlay.h"
#include "core/runs/overlay/verdict.h"
#include "core/runs/telemetry/read_sources.h"
#include "models/background_queue.h"
#include "models/measured_lanes.h"

#include <QByteArray>
#include <QObject>
#include <QStringList>

#include <functional>
#include <memory>
#include <optional>

namespace trainyard {

/// make_overlay.h
struct MadeOverlay;

/// A run that was read, with where it was read from.
struct OpenedRun {
    QStringList paths;
    /// of the paths as they were read
    QByteArray fingerprint;
    /// null: none was read
    RunPtr run;
};

struct ReadingProgress {
    std::size_t filesDone = 0, files = 0;
    /// of the bytes
    double share = 0;
    /// the last that was begun
    QString file;
};

class RunDocument : public QObject {
    Q_OBJECT
public:
    /// Reads what is at the paths; called in the background. As readSources() does, but for tests.
    using Read = std::function<Expected<Recording>(
        const std::vector<std::string> &paths, const SourceOptions &options, const SourcesProgress &progress)>;
    explicit RunDocument(QObject *parent = nullptr);
    explicit RunDocument(Read read, QObject *parent = nullptr);
    ~RunDocument() override;

    /// Reads files and folders; what was shown stays until they are read. Another open() cancels one under way.
    void open(const QStringList &paths);
    /// The same for the run that is the reference instead of the plan.
    void openReference(const QStringList &paths);
    /// Of the user, for logs that no reader knows (core/runs/telemetry/line_pattern.h); it holds for what is opened
    /// from then on. Empty: none. Answers why the text is no pattern; then the last one stays.
    [[nodiscard]] std::optional<Error> setLinePattern(const QString &text);
    /// its text; empty: none
    [[nodiscard]] QString linePattern() const;
    /// What was read last was refused, and some of it is a text whose lines a pattern may read.
    [[nodiscard]] bool mayTakeLinePattern() const;
    /// Operators and calls of the host, which traces have many of, are kept from then on; what is open is read again.
    void setKeepsHost(bool keeps);
    [[nodiscard]] bool keepsHost() const;
    /// of what is being read; the last recording stays
    void cancel();
    /// forgets run and reference
    void close();
    void closeReference();
    /// Reads the paths again whenever their files change, at most once a second.
    void setWatching(bool watches);

    /// A run that was read before takes the place of the one that is shown, with that step of it; one that goes on is
    /// left, one that is being read takes its place in turn. The reference stays, unless it is that run.
    void show(const OpenedRun &opened, std::optional<std::int64_t> step);
    /// A run that was read before becomes the reference instead of the plan.
    void showReference(const OpenedRun &opened);
    /// The run that is shown, and the one that is the reference.
    [[nodiscard]] const OpenedRun &opened() const;
    [[nodiscard]] const OpenedRun &openedReference() const;

    /// A run that goes on takes the place of what was read; further states of it take that of the one before, and run
    /// and overlay change at once, so that nothing is without rows for a moment. `step`: to be shown; empty: what was
    /// chosen stays. Cheap: older states that no overlay was made of are left out.
    void showLive(const RunPtr &run, std::optional<std::int64_t> step);
    /// it goes on no more: what is shown stays, like a run that was read
    void endLive();
    /// what is shown goes on
    [[nodiscard]] bool isLive() const;

    /// Writes the recording of the run, as one file; nothing without a run.
    void save(const QString &path);

    /// The evaluation that it lies under; null: none. Cheap: the overlay is made in the background, the newest wins.
    void setEvaluation(const EvaluationPtr &evaluation);
    /// empty: the typical one
    void setStep(std::optional<std::int64_t> number);
    /// empty: the slowest of each row
    void setRank(std::optional<int> rank);

    [[nodiscard]] bool isReading() const;
    [[nodiscard]] bool isWatching() const;
    [[nodiscard]] const ReadingProgress &progress() const;
    /// of the run
    [[nodiscard]] const QStringList &paths() const;
    /// what is being read is the reference
    [[nodiscard]] bool isReadingReference() const;
    /// null: none was read
    [[nodiscard]] const RunPtr &run() const;
    [[nodiscard]] const RunPtr &reference() const;
    /// null without a run
    [[nodiscard]] const RunOverlayPtr &overlay() const;
    /// Its rows as the timeline draws them, made with it; null without rows under a plan.
    [[nodiscard]] const MeasuredLanesPtr &lanes() const;
    /// On the run under the plan, made with the overlay; null without either.
    [[nodiscard]] const std::shared_ptr<const Expected<RunVerdict>> &verdict() const;
    [[nodiscard]] const OverlayOptions &options() const;
    /// Of the reference alone, to be drawn beside those of the run; empty without one.
    [[nodiscard]] const std::vector<RunCurve> &referenceCurves() const;
    [[nodiscard]] const EvaluationPtr &evaluation() const;
    /// The step that the options choose; nullptr where there is none.
    [[nodiscard]] const RunStep *step() const;
    /// Index of the slowest step that is no outlier and no warm-up; of all where none is left; -1: there are none.
    [[nodiscard]] int slowestStep() const;

signals:
    void readingChanged(bool isReading);
    void progressChanged(const trainyard::ReadingProgress &progress);
    void overlayChanged(const trainyard::RunOverlayPtr &overlay);
    /// A run or a reference was read, or was closed. The overlay follows.
    void runChanged();
    /// The live run that is shown told more, or ended: run and overlay are newer, all else is as it was.
    void runUpdated();
    void watchingChanged(bool isWatching);
    /// another step or rank; the overlay follows
    void optionsChanged();
    void saved(const QString &path);
    void saveFailed(const QString &path, const trainyard::Errors &errors);
    /// Nothing of these paths could be read, a sentence each; what was shown stays.
    void readingFailed(const trainyard::Errors &errors);

private:
    void read(const QStringList &paths, bool isReference, bool isAgain);
    void makeOverlay();
    void show(MadeOverlay made, std::optional<std::int64_t> liveStep);

    struct Private;
    std::unique_ptr<Private> d;
};

} // namespace trainyard
