#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A fabric as its links are read: devices by a key (GUID, LID), each link told by one or by both of its ends. Made into
// switches with what is below them: a switch with hosts is lowest, each next level is one link further from the hosts.
// Also the speeds of InfiniBand links, in both notations. One thread, one file.

#include "core/runs/telemetry/readers/node_builder.h"

#include <map>
#include <tuple>

namespace trainyard::readers {

/// Bytes a second in one direction that a link carries for data: "4xNDR", "4X 53.125 Gbps" (signalling of a lane), also
/// "4X 106.25 Gbps". 0 where it is neither.
[[nodiscard]] double linkSpeed(std::string_view text);

class FabricGraph {
public:
    /// `isSwitch`: told; what is met first as the other end of a link and never told is a host.
    void addDevice(const std::string &key, std::string_view description, bool isSwitch);
    void addLink(const std::string &fromKey, std::int64_t fromPort, const std::string &toKey, std::int64_t toPort,
        double bytesPerSecond);
    [[nodiscard]] bool isFull() const { return m_devices.size() >= kMost || m_links.size() >= kMost; }
    [[nodiscard]] bool isEmpty() const { return m_links.empty(); }
    void write(RecordingBuilder &scribe);

private:
    static constexpr std::size_t kMost = 1'000'000;
    struct Device {
        std::string name, description;
        bool isSwitch = false;
        int level = -1; // 0: a host; 1: a switch with hosts
        std::vector<std::size_t> links;
        std::size_t order = 0;
    };
    struct Link {
        Device *a = nullptr, *b = nullptr;
        double bytesPerSecond = 0;
    };
    using End = std::pair<std::string, std::int64_t>;

    void nameDevices();
    void findLevels();
    void writeSwitch(const Device &one, RecordingBuilder &scribe);
    void writeHosts(RecordingBuilder &scribe);

    std::map<std::string, Device> m_devices; // by key
    std::vector<Device *> m_order;
    std::map<std::pair<End, End>, std::size_t> m_known; // links by their ends, the lesser end first
    std::vector<Link> m_links;
};

} // namespace trainyard::readers
