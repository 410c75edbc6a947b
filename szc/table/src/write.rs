//! Encodes a decision as the bytes of a relocation table.

use crate::decision::{Decision, MovableFunction};
use crate::frame::Resizable;
use anyhow::{Context, Result};
use szc_abi::{Header, MAX_VARINT_BYTES, Movable, Pinned, encode_varint};

/// Encodes the table of an image.
///
/// # Errors
/// When the table would be larger than 4 GiB.
pub fn encode(decision: &Decision, link_base: u64) -> Result<Vec<u8>> {
    let mut fields = Vec::new();
    let mut names = Vec::new();
    let mut movable = Vec::new();
    let mut pinned = Vec::new();
    let (mut field_count, mut table_count) = (0, 0);
    for function in &decision.movable {
        let record = Movable {
            start: function.start,
            size: function.size,
            tables_bytes: tables_bytes(function)?,
            fields_at: word(fields.len())?,
            name_at: push_name(&mut names, &function.name)?,
            unit_next: function.unit_next,
            fde_bytes: fde_bytes(function)?,
            flags: flags(function),
            name_hash: function.name_hash,
        };
        movable.extend_from_slice(&record.encode());
        push_fields(&mut fields, function)?;
        if let Some(Ok(frame)) = &function.frame {
            push_frame(&mut fields, frame, link_base)?;
        }
        field_count += function.fields.len();
        table_count += function.tables.len();
    }
    for function in &decision.pinned {
        let record = Pinned {
            // A function beyond the range of a table is pinned for that reason; its place is not
            // needed where functions are moved.
            start: u32::try_from(function.start).unwrap_or(u32::MAX),
            size: u32::try_from(function.size).unwrap_or(u32::MAX),
            name_at: push_name(&mut names, &function.name)?,
            reason: function.reason as u32,
        };
        pinned.extend_from_slice(&record.encode());
    }
    let movable_offset = Header::BYTES;
    let pinned_offset = movable_offset + movable.len();
    let fields_offset = pinned_offset + pinned.len();
    let names_offset = fields_offset + fields.len();
    let [base_low, base_high] = [link_base & u64::from(u32::MAX), link_base >> 32];
    let header = Header {
        total_bytes: word(names_offset + names.len())?,
        movable_count: word(decision.movable.len())?,
        movable_offset: word(movable_offset)?,
        pinned_count: word(decision.pinned.len())?,
        pinned_offset: word(pinned_offset)?,
        fields_offset: word(fields_offset)?,
        fields_bytes: word(fields.len())?,
        names_offset: word(names_offset)?,
        names_bytes: word(names.len())?,
        field_count: word(field_count)?,
        table_count: word(table_count)?,
        base_low: u32::try_from(base_low)?,
        base_high: u32::try_from(base_high)?,
        flags: if decision.switches_in_place { Header::FLAG_SWITCHES_STACKS } else { 0 },
    };
    let mut table = [&header.encode()[..], &movable, &pinned, &fields, &names].concat();
    table.extend(szc_abi::digest(&table).to_le_bytes());
    Ok(table)
}

fn word(value: usize) -> Result<u32> {
    u32::try_from(value).context("the relocation table would be larger than 4 GiB")
}

fn push_name(names: &mut Vec<u8>, name: &[u8]) -> Result<u32> {
    let at = word(names.len())?;
    names.extend_from_slice(name);
    names.push(0);
    Ok(at)
}

fn tables_bytes(function: &MovableFunction) -> Result<u32> {
    let bytes: usize = function
        .tables
        .iter()
        .map(|table| (table.targets.len() * if table.absolute { 8 } else { 4 }).next_multiple_of(8))
        .sum();
    word(bytes)
}

fn flags(function: &MovableFunction) -> u32 {
    let labels = if function.labels_escape { Movable::FLAG_LABELS_ESCAPE } else { 0 };
    let frame = match &function.frame {
        Some(Ok(_)) => Movable::FLAG_FRAME,
        Some(Err(reason)) => Movable::fixed_frame_flags(*reason),
        None => 0,
    };
    let switches = if function.switches_stacks { Movable::FLAG_SWITCHES_STACKS } else { 0 };
    let inner = if function.inner_entry { Movable::FLAG_INNER_ENTRY } else { 0 };
    let hot_patch = function.hot_patch_pushes.map_or(0, Movable::hot_patch_flags);
    labels | frame | switches | inner | hot_patch
}

fn fde_bytes(function: &MovableFunction) -> Result<u32> {
    let fde = function.frame.as_ref().and_then(|frame| frame.as_ref().ok()?.fde.as_ref());
    fde.map_or(Ok(0), |fde| word(fde.bytes.len()))
}

fn push_frame(out: &mut Vec<u8>, frame: &Resizable, link_base: u64) -> Result<()> {
    push_numbers(out, &frame.sites)?;
    let Some(fde) = &frame.fde else { return Ok(()) };
    let offset = |address: u64| {
        u32::try_from(address.wrapping_sub(link_base))
            .context("an FDE refers to something outside the image")
    };
    push_varint(out, offset(fde.cie)?);
    match fde.lsda {
        Some((at, address)) => {
            push_varint(out, at);
            push_varint(out, offset(address)?);
        }
        None => push_varint(out, 0),
    }
    push_numbers(out, &fde.offsets)?;
    out.extend_from_slice(&fde.bytes);
    Ok(())
}

/// Ascending numbers: how many, and the distance of each from the one before.
fn push_numbers(out: &mut Vec<u8>, numbers: &[u32]) -> Result<()> {
    push_varint(out, word(numbers.len())?);
    let mut last = 0;
    for &number in numbers {
        push_varint(out, number - last);
        last = number;
    }
    Ok(())
}

fn push_varint(out: &mut Vec<u8>, value: u32) {
    let mut buffer = [0; MAX_VARINT_BYTES];
    let used = encode_varint(value, &mut buffer);
    out.extend_from_slice(&buffer[..used]);
}

fn push_fields(out: &mut Vec<u8>, function: &MovableFunction) -> Result<()> {
    push_varint(out, word(function.fields.len())?);
    let mut last = 0;
    for field in &function.fields {
        let (tag, operands) = field.kind.encode();
        let distance = field.at - last;
        push_varint(
            out,
            distance.checked_mul(8).context("a function is larger than 512 MiB")? | tag,
        );
        last = field.at;
        operands.into_iter().flatten().for_each(|operand| push_varint(out, operand));
    }
    push_varint(out, word(function.tables.len())?);
    for table in &function.tables {
        push_varint(out, word(table.targets.len())? << 1 | u32::from(table.absolute));
        for target in &table.targets {
            let (code, offset) = target.encode();
            push_varint(out, code);
            offset.into_iter().for_each(|offset| push_varint(out, offset));
        }
    }
    Ok(())
}
