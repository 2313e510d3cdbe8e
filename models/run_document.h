#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What was recorded of a real run, beside the plan that the window shows: reads files and folders in the background
// with progress, makes a run of them, and lays it under each new evaluation. A second recording may be the reference
// instead of the plan. Watched folders are read again when their files change. Nothing here belongs to the plan, so
// nothing is undone. GUI thread.

#include "core/overlay/run_overlay.h"
#include "models/background_queue.h"

#include <QObject>
#include <QStringList>

#include <memory>
#include <optional>

namespace trainyard {

struct ReadingProgress {
    std::size_t filesDone = 0, files = 0;
    double share = 0; // of the bytes
    QString file; // the last that was begun
};

class RunDocument : public QObject {
    Q_OBJECT
public:
    explicit RunDocument(QObject *parent = nullptr);
    ~RunDocument() override;

    /// Reads files and folders; what was shown stays until they are read. Another open() cancels one under way.
    void open(const QStringList &paths);
    /// The same for the run that is the reference instead of the plan.
    void openReference(const QStringList &paths);
    void cancel(); // of what is being read; the last recording stays
    void close(); // forgets run and reference
    void closeReference();
    /// Reads the paths again whenever their files change, at most once a second.
    void setWatching(bool watches);

    /// The evaluation that it lies under; null: none. Cheap: the overlay is made in the background, the newest wins.
    void setEvaluation(const EvaluationPtr &evaluation);
    void setStep(std::optional<std::int64_t> number); // empty: the typical one
    void setRank(std::optional<int> rank); // empty: the slowest of each row

    [[nodiscard]] bool isReading() const;
    [[nodiscard]] bool isWatching() const;
    [[nodiscard]] const ReadingProgress &progress() const;
    [[nodiscard]] const QStringList &paths() const;
    [[nodiscard]] const RunPtr &run() const; // null: none was read
    [[nodiscard]] const RunPtr &reference() const;
    [[nodiscard]] const RunOverlayPtr &overlay() const; // null without a run
    [[nodiscard]] const OverlayOptions &options() const;

signals:
    void readingChanged(bool isReading);
    void progressChanged(const trainyard::ReadingProgress &progress);
    void overlayChanged(const trainyard::RunOverlayPtr &overlay);
    /// Nothing of these paths could be read, a sentence each; what was shown stays.
    void readingFailed(const trainyard::Errors &errors);

private:
    struct Private;
    std::unique_ptr<Private> d;
};

} // namespace trainyard
