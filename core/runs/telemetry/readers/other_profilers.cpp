// SPDX-License-Identifier: GPL-3.0-or-later
// Files of profilers that are known and not read: what each is, and how to make of it what is.
#include "core/runs/telemetry/readers/nsys_export.h"
#include "core/runs/telemetry/readers/recording_builder.h"

#include <algorithm>
#include <array>

namespace trainyard::readers {

namespace {

struct OtherProfiler {
    std::string_view ending; // of the file's name
    const char *what;
};

constexpr std::array<OtherProfiler, 8> kOtherProfilers { {
    { ".nsys-rep",
        "It is a report of Nsight Systems: `nsys export --type sqlite` makes of it a database, which is read" },
    { ".qdrep", "It is a report of Nsight Systems: `nsys export --type sqlite` makes of it a database, which is read" },
    { ".ncu-rep",
        "It is a report of Nsight Compute, of single kernels: a trace of Nsight Systems or of PyTorch's profiler "
        "shows a step" },
    { ".xplane.pb", "It is an XSpace of XLA's profiler (JAX, TensorFlow), which is not read: the log of the run is" },
    { ".pftrace",
        "It is a trace in Perfetto's own format: `traceconv json` makes JSON of it, whose kernels are read where "
        "their category is \"kernel\"" },
    { ".perfetto-trace",
        "It is a trace in Perfetto's own format: `traceconv json` makes JSON of it, whose kernels are read "
        "where their category is \"kernel\"" },
    { ".rpd",
        "It is a database of rocmProfileData, which is not read: PyTorch's profiler writes traces on AMD GPUs, too" },
    { ".otf2", "It is a trace in OTF2, which is not read: `rocprofv3` and PyTorch's profiler write others" },
} };

const OtherProfiler *profilerOf(std::string_view fileName)
{
    const auto known =
        std::ranges::find_if(kOtherProfilers, [&](const OtherProfiler &one) { return fileName.ends_with(one.ending); });
    return known == kOtherProfilers.end() ? nullptr : &*known;
}

} // namespace

int looksLikeOtherProfiler(std::string_view fileName, std::string_view)
{
    return profilerOf(fileName) ? 99 : 0;
}

Expected<Recording> refuseOtherProfiler(const SourceText &source, const SourceOptions &)
{
    const OtherProfiler *known = profilerOf(source.file);
    return refusal(source, known ? known->what : "It is a file of another profiler");
}

} // namespace trainyard::readers
