#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The runs that were read, by name: what RunDocument shows is the current one of them, and reading another one adds it.
// Runs of a session are read again from their paths, one after the other, in the background. Runs are shared, not
// copied. GUI thread.
//
//   runs.open({ "monday" });             // RunDocument: a first run, which is shown
//   runs.open({ "tuesday" });            // a second one is shown, the first stays in the list
//   loaded.show(loaded.all()[0].id);     // the first again, at the step that was chosen of it

#include "models/run_document.h"

#include <stop_token>
#include <string>
#include <vector>

namespace trainyard {

struct LoadedRun {
    /// "r3": of this window, never given twice
    std::string id;
    /// told from those of the others
    QString name;
    OpenedRun opened;
    /// chosen last; empty: the typical one
    std::optional<std::int64_t> step;
    /// its colour, by number
    int color = 0;
    /// it waits to be read, or is
    bool isReading = false;
    /// why nothing was read; a sentence a file
    Errors errors;

    /// null: it was not read, or not yet
    [[nodiscard]] const RunPtr &run() const { return opened.run; }
};

class LoadedRuns : public QObject {
    Q_OBJECT
public:
    explicit LoadedRuns(RunDocument &runs, QObject *parent = nullptr);
    /// `read`: in place of readSources(), for tests.
    LoadedRuns(RunDocument &runs, RunDocument::Read read, QObject *parent = nullptr);
    ~LoadedRuns() override;

    /// In the order in which they came.
    [[nodiscard]] const std::vector<LoadedRun> &all() const { return m_all; }
    /// nullptr: there is none
    [[nodiscard]] const LoadedRun *find(const std::string &id) const;
    /// Id of the one that lies under the plan; empty: none, or one that goes on.
    [[nodiscard]] const std::string &current() const { return m_current; }
    [[nodiscard]] RunDocument &document() { return m_runs; }

    /// Lays it under the plan; nothing where it was not read.
    void show(const std::string &id);
    /// Forgets it. After the current one none is, until one is shown or read.
    void close(const std::string &id);
    /// Of this run; empty: the typical one.
    void setStep(const std::string &id, std::optional<std::int64_t> step);
    /// What could not be read is tried again.
    void readAgain(const std::string &id);

    /// Where its runs were read from, as JSON; "" where there are none with files.
    [[nodiscard]] std::string toJson() const;
    /// Reads the runs of such a text, beside those that are here; what it cannot mean is left out.
    void restore(const std::string &json);

signals:
    /// runs came or went, were read or not; another one is current, or its step is another
    void changed();

private:
    void follow();
    /// The entry of that run or of its paths, made where there is none.
    LoadedRun &take(const OpenedRun &opened);
    [[nodiscard]] QString nameOf(const LoadedRun &run) const;
    [[nodiscard]] int freeColor() const;
    LoadedRun *entry(const std::string &id);
    void readNext();

    RunDocument &m_runs;
    RunDocument::Read m_read;
    std::vector<LoadedRun> m_all;
    std::string m_current;
    /// to be shown once it is read
    std::string m_awaited;
    int m_made = 0;
    bool m_isReading = false, m_isShowing = false;
    std::stop_source m_stop;
    /// last: its jobs use what is above
    BackgroundQueue m_queue;
};

} // namespace trainyard
