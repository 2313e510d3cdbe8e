// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/sweep/messages.h"

#include <algorithm>
#include <cstring>

namespace trainyard::sweep {

int Mailbox::rank()
{
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

int Mailbox::ranks()
{
    int ranks = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    return ranks;
}

void Mailbox::send(int to, Tag tag, std::string bytes)
{
    Transfer &transfer = m_leaving.emplace_back(Message { to, tag, std::move(bytes) });
    const std::string &text = transfer.message.bytes;
    if (MPI_Isend(text.data(), int(text.size()), MPI_BYTE, to, tag, MPI_COMM_WORLD, &transfer.request) != MPI_SUCCESS)
        m_leaving.pop_back(); // to a rank that is gone
}

bool Mailbox::isIdle()
{
    std::erase_if(m_leaving, [](Transfer &transfer) {
        int isDone = 0;
        return MPI_Test(&transfer.request, &isDone, MPI_STATUS_IGNORE) != MPI_SUCCESS || isDone != 0;
    });
    return m_leaving.empty();
}

std::optional<Message> Mailbox::receive()
{
    int isThere = 0;
    MPI_Message handle = MPI_MESSAGE_NULL;
    MPI_Status status {};
    if (MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &isThere, &handle, &status) == MPI_SUCCESS
        && isThere) {
        int size = 0;
        MPI_Get_count(&status, MPI_BYTE, &size);
        Transfer &transfer = m_coming.emplace_back(
            Message { status.MPI_SOURCE, Tag(status.MPI_TAG), std::string(std::size_t(std::max(size, 0)), '\0') });
        MPI_Imrecv(transfer.message.bytes.data(), size, MPI_BYTE, &handle, &transfer.request);
    }
    for (auto transfer = m_coming.begin(); transfer != m_coming.end(); ++transfer) {
        int isDone = 0;
        if (MPI_Test(&transfer->request, &isDone, MPI_STATUS_IGNORE) != MPI_SUCCESS || isDone == 0)
            continue;
        Message message = std::move(transfer->message);
        m_coming.erase(transfer);
        return message;
    }
    return std::nullopt;
}

std::string packed(const std::vector<std::uint64_t> &numbers)
{
    return { reinterpret_cast<const char *>(numbers.data()), numbers.size() * sizeof(std::uint64_t) };
}

std::vector<std::uint64_t> unpacked(const std::string &bytes, std::size_t count)
{
    std::vector<std::uint64_t> numbers(count);
    std::memcpy(numbers.data(), bytes.data(), std::min(bytes.size(), count * sizeof(std::uint64_t)));
    return numbers;
}

} // namespace trainyard::sweep
