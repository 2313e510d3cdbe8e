#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A recording file as the JSON text that it packs.

#include "core/runs/telemetry/recording_file.h"

#include <QTemporaryDir>

#include <fstream>

namespace trainyard::testing {

/// Its gzip bytes as text.
inline std::string unpacked(const std::string &packed)
{
    QTemporaryDir folder;
    const std::string path = folder.filePath("a").toStdString();
    std::ofstream(path, std::ios::binary) << packed;
    const auto file = openSource(path, {});
    return file && !file->text.isTruncated ? std::string(file->text.text) : "";
}

inline std::string textOf(const Recording &recording)
{
    const auto packed = formatRecording(recording);
    return packed ? unpacked(*packed) : "";
}

} // namespace trainyard::testing
