#!/bin/bash
#SBATCH --nodes=2 --gpus-per-node=a100:8
accelerate launch --use_fsdp --mixed_precision bf16 --num_processes $((2 * 8)) \
    sft.py --model_name_or_path mistralai/Mistral-7B-v0.1 --per_device_train_batch_size 4 \
    --gradient_accumulation_steps=2 --max_seq_length "2048" --gradient_checkpointing --report_to none
