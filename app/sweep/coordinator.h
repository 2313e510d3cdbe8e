#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Rank 0 of a sweep over MPI: deals ranges to whoever asks, itself included, and writes the file. A rank that is silent
// for too long is lost: it is named, and others do its rows again. Where mpirun ends the whole job when one rank dies
// (its default; --enable-recovery has it go on), the file is valid and --resume goes on with it.

#include "app/sweep/messages.h"
#include "core/planner/sweep/run_sweep.h"

#include <chrono>

namespace trainyard::sweep {

class Coordinator {
public:
    /// `lostAfter`: seconds of silence. All outlive it.
    Coordinator(Mailbox &mail, SweepWorkers &workers, SweepFile &file, std::uint64_t rows, double lostAfter);
    /// Until all rows are written or it is stopped; then tells everybody. Errors: of the file; Internal.
    [[nodiscard]] Expected<SweepEnd> run(
        const std::stop_token &stop, const std::function<void(const SweepProgress &)> &onProgress);
    /// Then MPI cannot be left in good order.
    [[nodiscard]] bool hasLost() const;

private:
    using Clock = std::chrono::steady_clock;
    struct Peer {
        /// ranges that it would take
        std::uint64_t wanted = 0;
        Clock::time_point heard = Clock::now();
        bool isLost = false;
    };
    [[nodiscard]] Expected<void> hear();
    [[nodiscard]] Expected<bool> takeOwn(double seconds);
    void deal();
    void watch();
    void end();

    Mailbox &m_mail;
    SweepWorkers &m_workers;
    std::uint64_t m_rows;
    double m_lostAfter;
    std::uint64_t m_there;
    SweepBoard m_board;
    /// [rank]; the first is this one
    std::vector<Peer> m_peers;
    /// that we are alive
    Clock::time_point m_told = Clock::now();
};

/// Any other rank: works until it is told to end. False where rank 0 fell silent, or the end is without order.
[[nodiscard]] bool work(Mailbox &mail, SweepWorkers &workers, double lostAfter);

} // namespace trainyard::sweep
