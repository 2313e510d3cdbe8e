#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Runs a validation when asked to, in the background, and delivers what it found as one immutable value. A new run
// stops the one under way. Lives on the GUI thread.

#include "core/facts/catalogue/catalogue.h"
#include "models/background_queue.h"
#include "models/validation/validated_rows.h"

#include <QTimer>

#include <atomic>
#include <functional>
#include <stop_token>

namespace trainyard {

class ValidationRunner : public QObject {
    Q_OBJECT
public:
    /// Reads the rows of a file, or the built-in ones where the path is empty; called in the background.
    using Read = std::function<ExpectedAll<std::vector<RowSet>>(const QString &file)>;
    explicit ValidationRunner(const Catalogue &catalogue, QObject *parent = nullptr);
    /// With other rows than those of the product, for tests.
    ValidationRunner(const Catalogue &catalogue, Read read, QObject *parent = nullptr);
    ~ValidationRunner() override;

    /// Validates the rows of a file; the built-in ones where the path is empty.
    void run(const QString &file = {});
    /// Gives up the run under way; what was found before stays.
    void cancel();
    [[nodiscard]] bool isRunning() const { return m_isRunning; }
    [[nodiscard]] const ValidatedRowsPtr &result() const
    {
        return m_result;
    } // of the last run that finished; may be null

signals:
    void started(const QString &file);
    void progressed(int done, int rows);
    void finished(const trainyard::ValidatedRowsPtr &result);
    /// The rows could not be read.
    void failed(const QString &file, const trainyard::Errors &errors);
    void cancelled();

private:
    struct Progress {
        std::atomic<int> done = 0, rows = 0;
    };
    void arrived(std::uint64_t generation, const QString &file, ExpectedAll<ValidatedRowsPtr> result);
    void stop();

    const Catalogue &m_catalogue;
    Read m_read;
    bool m_isRunning = false;
    /// of the newest run: older ones are not wanted any more
    std::uint64_t m_generation = 0;
    std::stop_source m_stop;
    std::shared_ptr<Progress> m_progress;
    QTimer m_tick;
    ValidatedRowsPtr m_result;
    /// last: its work uses what is above
    BackgroundQueue m_queue;
};

} // namespace trainyard
