#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the kernels of the run that is open say by themselves (core/runs/profile): made beside the GUI thread when
// someone looks at it, and again for another run, reference or step. Of a run that goes on nothing is made. It needs no
// plan. GUI thread.

#include "core/runs/profile/idle_causes.h"
#include "core/runs/profile/launch_queue.h"
#include "core/runs/profile/measured_path.h"
#include "core/runs/profile/roofline.h"
#include "core/runs/profile/trace_rows.h"
#include "models/run_document.h"

namespace trainyard {

/// Of all that was recorded, but for the path.
struct ProfileOfRun {
    RunPtr run, reference;
    std::shared_ptr<const TraceRows> trace;
    std::vector<RankIdle> idle;
    std::vector<RankQueue> queues;
    KernelTable kernels;
    /// of the run less those of the reference, of one step of one rank; empty: there is no reference
    std::optional<KernelDifferences> differences;
    /// whose path it is; -1: none is shown
    int step = -1;
    MeasuredPath path;
    std::vector<PathShare> pathShares;
    /// of the GPUs that the catalogue of the program has
    Roofline roofline;
};
using ProfilePtr = std::shared_ptr<const ProfileOfRun>;

/// `step`: index into the run's steps, or -1. `before`: one of the same run, whose parts are taken over; may be null.
[[nodiscard]] ProfilePtr profileOf(
    const RunPtr &run, const RunPtr &reference, int step, const ProfilePtr &before = nullptr);

class RunProfile : public QObject {
    Q_OBJECT
public:
    explicit RunProfile(RunDocument &runs, QObject *parent = nullptr);
    ~RunProfile() override;

    /// Nothing is made while nobody sees it.
    void setSeen(const QObject *by, bool isSeen);
    /// Of the run that is open; null: none was made yet.
    [[nodiscard]] const ProfilePtr &shown() const;
    [[nodiscard]] bool isMaking() const;
    [[nodiscard]] RunDocument &runs() { return m_runs; }

signals:
    /// another profile, or it is being made
    void changed();

private:
    void refresh();

    struct Private;
    RunDocument &m_runs;
    std::unique_ptr<Private> d;
};

} // namespace trainyard
