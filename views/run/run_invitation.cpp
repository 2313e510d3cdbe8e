// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/run/run_invitation.h"

#include <QCoreApplication>

namespace trainyard {

Invitation::Words runInvitation()
{
    const auto tr = [](const char *text) { return QCoreApplication::translate("RunInvitation", text); };
    return { .accessibleName = tr("No run is open"),
        .title = tr("Drop what your run left behind"),
        .about = tr("Files and folders, all at once: each is known by its content. The run is laid under this "
                    "plan, step by step, and every second of difference gets a name."),
        .kinds = { { tr("Profiler traces"),
                       tr("PyTorch (.json, .json.gz), one per rank; Chakra: every kernel of a step") },
            { tr("Training logs"),
                tr("Megatron-LM, torchtitan, DeepSpeed, NeMo, Hugging Face, MLPerf; TensorBoard, wandb") },
            { tr("Network and drives"), tr("nccl-tests, NCCL Inspector, flight recorder, iperf3, fio") },
            { tr("GPUs"), tr("nvidia-smi and DCGM samples, Prometheus, OpenTelemetry") },
            { tr("How it was started"),
                tr("config.json, arguments of Megatron and torchtitan; topologies of Slurm and NCCL") },
            { tr("A recording"), tr("*.trainyard-recording: all of these in one file, as saved here") } },
        .nameWidth = 150,
        .wrapsKinds = true,
        .begin = tr("Open files…"),
        .other = tr("Open a folder…"),
        .below = tr("Everything is read on this machine; nothing leaves it.") };
}

} // namespace trainyard
