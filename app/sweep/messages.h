#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the ranks of a sweep tell each other, without ever waiting in MPI: a peer that is gone would have everybody wait
// with it. One of them a rank, on the thread that initialised MPI.

#include <mpi.h>

#include <list>
#include <optional>
#include <string>
#include <vector>

namespace trainyard::sweep {

enum Tag : int {
    /// worker: how many ranges more it would take, a number
    kAsk = 1,
    /// rank 0: rows to work out, first and count
    kRange,
    /// worker: rows that are done, and so one range more
    kChunk,
    /// both: nothing else to say for a second
    kAlive,
    /// rank 0: 1 where MPI is to be left in good order, 0 where a rank is lost and it cannot be
    kEnd,
};

struct Message {
    int from = 0;
    Tag tag = kAlive;
    std::string bytes;
};

class Mailbox {
public:
    [[nodiscard]] static int rank();
    [[nodiscard]] static int ranks();

    void send(int to, Tag tag, std::string bytes);
    /// The next message that has come whole, if there is one.
    [[nodiscard]] std::optional<Message> receive();
    /// Whether everything sent has left.
    [[nodiscard]] bool isIdle();

private:
    struct Transfer {
        /// `from` is the peer
        Message message;
        MPI_Request request = MPI_REQUEST_NULL;
    };
    /// MPI holds pointers to their bytes
    std::list<Transfer> m_leaving, m_coming;
};

/// Numbers as bytes, for machines of one kind.
[[nodiscard]] std::string packed(const std::vector<std::uint64_t> &numbers);
/// The first `count` of them, zeros where there are fewer.
[[nodiscard]] std::vector<std::uint64_t> unpacked(const std::string &bytes, std::size_t count);

} // namespace trainyard::sweep
