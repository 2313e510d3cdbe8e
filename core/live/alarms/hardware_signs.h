#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What series of exporters tell of the health of GPUs, by their names: DCGM's, AMD's device metrics exporter's and
// AMD's SMI exporter's, as core/runs/telemetry/readers/exporter_metrics.h has them. And the words of XIDs and of
// reasons for a low clock. Pure functions.

#include "core/live/alarms/alarm_rules.h"
#include "core/runs/telemetry/recording.h"

namespace trainyard::watch {

struct HardwareSign {
    enum class Kind : std::uint8_t {
        None,
        /// Hz, beside those of other GPUs
        Clock,
        /// share of the time that some kernel runs
        Use,
        /// bits of NVML
        Reasons,
        /// of the time, that `what` slows it down
        Share,
        /// °C
        Heat,
        /// the latest number stands
        Number,
        /// errors, since the driver was loaded
        Counter,
        /// bad where it is not 0, and where it is 0
        BadFlag,
        GoodFlag
    };
    Kind kind = Kind::None;
    RuleId rule = RuleId::Health;
    /// "errors of NVLink", "heat of the socket", "XID"
    const char *what = "";
    /// Two samples in a row tell of it.
    [[nodiscard]] bool isOfTwo() const
    {
        return kind == Kind::Clock || kind == Kind::Reasons || kind == Kind::Share || kind == Kind::Heat;
    }
};
/// Of a series over time; by its name, and for AMD's field identifiers by the severity in its place.
[[nodiscard]] HardwareSign hardwareSignOf(const SampleSeries &series);

/// What is wrong, of bits that NVML tells; null: nothing that is a fault (an idle GPU, a power cap).
[[nodiscard]] const char *throttleReasonOf(std::uint64_t bits);
/// ": an error of NVLink"; empty: nobody says what it is.
[[nodiscard]] std::string xidWords(int number);
/// "n1/gpu3" of "n1/gpu3{clock_index=2}", and "n1" of either.
[[nodiscard]] std::string_view gpuOf(std::string_view where);
[[nodiscard]] std::string_view nodeOf(std::string_view where);

} // namespace trainyard::watch
