// Reads and writes the core values as parts of larger JSON. core/json.h is built on it. Private to
// core and to the formats that embed core values (recordings, the store).
#pragma once

#include <string_view>

#include "core/advice.h"
#include "core/candidate.h"
#include "core/json_reader.h"
#include "core/json_writer.h"
#include "core/profile.h"
#include "core/spent.h"
#include "core/task.h"
#include "core/tuning.h"

namespace pragma {

struct Evaluation;
struct Trial;

inline constexpr int kJsonSchema =
    1;  // schema number of every object; raised only when a name changes its meaning

// Begins an object and writes its "schema" member.
void BeginSchema(JsonWriter& writer);
// Reports an error if the object has a newer schema.
void CheckSchema(const JsonReader& reader);

void Write(JsonWriter& writer, const Task& task);
void Write(JsonWriter& writer, const Candidate& candidate);
void Write(JsonWriter& writer, const Evaluation& evaluation);
void Write(JsonWriter& writer, const Tuning& tuning);
void Write(JsonWriter& writer, const Advice& advice);
void Write(JsonWriter& writer, const Profile& profile);
void Write(JsonWriter& writer, const Spent& spent);
void Write(JsonWriter& writer, const Trial& trial);

void Read(const JsonReader& reader, Task& task);
void Read(const JsonReader& reader, Candidate& candidate);
void Read(const JsonReader& reader, Evaluation& evaluation);
void Read(const JsonReader& reader, Tuning& tuning);
void Read(const JsonReader& reader, Advice& advice);
void Read(const JsonReader& reader, Profile& profile);
void Read(const JsonReader& reader, Spent& spent);
void Read(const JsonReader& reader, Trial& trial);

}  // namespace pragma
