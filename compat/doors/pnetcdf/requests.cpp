// SPDX-License-Identifier: BSD-3-Clause
// Calls on values: at once, or as requests that wait.
#include <algorithm>
#include <utility>

#include "pnetcdf/file.hpp"

namespace door::pnetcdf::serve {

namespace {

int check_mode(const File& file, bool puts, bool together) {
  if (file.defining) return NC_EINDEFINE;
  if (puts && !file.writable) return NC_EPERM;
  if (together && file.alone) return NC_EINDEP;
  return !together && !file.alone ? NC_ENOTINDEP : NC_NOERR;
}

bool is_wrong(int code) {
  return code != NC_NOERR && code != NC_ERANGE;
}

// The first one that says something, or a later one that says more than NC_ERANGE.
int worse(int code, int other) {
  return code == NC_NOERR || (code == NC_ERANGE && is_wrong(other)) ? other : code;
}

int move_at_once(File& file, int varid, const door_call& call) {
  const bool puts = call.verb == door_put, together = call.together != 0;
  if (const int code = check_mode(file, puts, together); code != NC_NOERR) return code;
  Move move;
  int code = prepare(file, varid, call, puts, false, move);
  if (is_wrong(code)) move.clear();  // takes part with nothing
  if (together)
    code = worse(code, move_together(file, puts, {&move}));
  else
    code = worse(code, move_alone(file, move));
  return puts || is_wrong(code) ? code : worse(code, deliver(move));
}

// Even for puts, odd for gets, from the beginning where none waits: where nfmpi_iput gives NF_ERANGE, the
// program has the id of an earlier request, and waits for that.
int next_id(const File& file, bool puts) {
  const auto last = std::find_if(file.requests.rbegin(), file.requests.rend(),
                                 [&](const Request& request) { return request.move.puts == puts; });
  return last != file.requests.rend() ? last->id + 2 : puts ? 0 : 1;
}

int post(File& file, int varid, const door_call& call) {
  const bool puts = call.verb != door_iget, buffers = call.verb == door_bput;
  if (call.request != nullptr) *call.request = NC_REQ_NULL;
  if (puts && !file.writable) return NC_EPERM;
  if (buffers && file.buffer < 0) return NC_ENULLABUF;
  Request request;
  const int code = prepare(file, varid, call, puts, buffers, request.move);
  if (is_wrong(code) || request.move.is_empty()) return code;
  request.buffered = -1;
  if (buffers) {
    const nc_type type = file.variable(varid)->type;
    request.buffered = request.move.cells * static_cast<std::int64_t>(size_of(type));
    if (file.buffered + request.buffered > file.buffer) return NC_EINSUFFBUF;
    file.buffered += request.buffered;
  }
  request.id = next_id(file, puts);
  if (call.request != nullptr) *call.request = request.id;
  file.requests.push_back(std::move(request));
  return code;
}

struct Waited {
  Request request;
  int place;  // in the program's arrays; -1: none
  int code = NC_NOERR;
};

// PnetCDF looks at no ids where there are as many as requests that wait, all of them puts or all gets.
// Programs in Fortran live on it, whose ids stay as they were where nfmpi_iput gives NF_ERANGE.
bool are_all(const File& file, int count, const int* statuses) {
  const auto is_put = [](const Request& request) { return request.move.puts; };
  const auto puts = std::count_if(file.requests.begin(), file.requests.end(), is_put);
  const auto all = static_cast<std::ptrdiff_t>(file.requests.size());
  return count > 0 && count == all && (puts == 0 || puts == all || statuses == nullptr);
}

std::vector<Waited> take_all(File& file, int* statuses) {
  std::vector<Waited> taken;
  int place = 0;
  for (Request& request : file.requests) {
    if (statuses != nullptr) statuses[place] = NC_NOERR;
    taken.push_back({std::move(request), place++});
  }
  file.requests.clear();
  file.buffered = 0;
  return taken;
}

// Ids, and the first place that each has in the program's array, in the order of ids.
std::vector<std::pair<int, int>> places_of(int count, const int* ids) {
  std::vector<std::pair<int, int>> places;
  for (int i = 0; i < count; ++i)
    places.emplace_back(ids[i], i);
  std::sort(places.begin(), places.end());
  return places;
}

// Takes the requests that are meant, in the order of calls. `code`: of ids that are none.
std::vector<Waited> take(File& file, int count, const int* ids, int* statuses, int& code) {
  std::vector<Waited> taken;
  std::vector<Request> left;
  const auto places = places_of(count, ids);
  std::vector<int> own;
  for (const Request& request : file.requests)
    own.push_back(request.id);
  std::sort(own.begin(), own.end());
  for (int i = 0; i < count; ++i) {
    const bool known = ids[i] == NC_REQ_NULL || std::binary_search(own.begin(), own.end(), ids[i]);
    if (statuses != nullptr) statuses[i] = known ? NC_NOERR : NC_EINVAL_REQUEST;
    if (!known) code = NC_EINVAL_REQUEST;
  }
  for (Request& request : file.requests) {
    int place = -1;
    bool meant = false;
    if (count > 0) {
      const auto at = std::lower_bound(places.begin(), places.end(), std::pair(request.id, 0));
      meant = at != places.end() && at->first == request.id;
      if (meant) place = at->second;
    } else if (count < 0) {
      meant = count == NC_REQ_ALL || (count == NC_PUT_REQ_ALL) == request.move.puts;
    }
    if (meant && request.buffered > 0) file.buffered -= request.buffered;
    if (meant)
      taken.push_back({std::move(request), place});
    else
      left.push_back(std::move(request));
  }
  file.requests.swap(left);
  return taken;
}

std::vector<Move*> of_way(std::vector<Waited>& all, bool puts) {
  std::vector<Move*> moves;
  for (Waited& one : all)
    if (one.request.move.puts == puts) moves.push_back(&one.request.move);
  return moves;
}

// All puts as one set of boxes, then all gets.
void move_all(File& file, std::vector<Waited>& all) {
  int some[2] = {of_way(all, true).empty() ? 0 : 1, of_way(all, false).empty() ? 0 : 1};
  MPI_Allreduce(MPI_IN_PLACE, some, 2, MPI_INT, MPI_MAX, file.comm);
  for (const bool puts : {true, false}) {
    if (some[puts ? 0 : 1] == 0) continue;
    const int code = move_together(file, puts, of_way(all, puts));
    for (Waited& one : all)
      if (one.request.move.puts == puts) one.code = code;
  }
}

void move_each(File& file, std::vector<Waited>& all) {
  for (const bool puts : {true, false})
    for (Waited& one : all)
      if (one.request.move.puts == puts) one.code = move_alone(file, one.request.move);
}

int wait(File& file, int count, int* ids, int* statuses, bool together) {
  if (const int code = check_mode(file, false, together); code != NC_NOERR) return code;
  int code = NC_NOERR;
  if (count < NC_PUT_REQ_ALL || (count > 0 && ids == nullptr)) code = NC_EINVAL, count = 0;
  std::vector<Waited> all =
      are_all(file, count, statuses) ? take_all(file, statuses) : take(file, count, ids, statuses, code);
  if (together)
    move_all(file, all);
  else
    move_each(file, all);
  for (Waited& one : all) {
    if (!one.request.move.puts && one.code == NC_NOERR) one.code = deliver(one.request.move);
    if (one.place >= 0 && statuses != nullptr) statuses[one.place] = one.code;
    code = worse(code, one.code);
  }
  for (int i = 0; i < count; ++i)
    ids[i] = NC_REQ_NULL;
  return code;
}

}  // namespace

int move(int ncid, int varid, const door_call* call) {
  return answer(ncid, [&](File& file) {
    const bool at_once = call->verb == door_put || call->verb == door_get;
    return at_once ? move_at_once(file, varid, *call) : post(file, varid, *call);
  });
}

int move_many(int ncid, int num, const int* varids, const door_calls* calls) {
  return answer(ncid, [&](File& file) {
    const bool puts = calls->gets == 0, together = calls->together != 0;
    if (const int code = check_mode(file, puts, together); code != NC_NOERR) return code;
    std::vector<Waited> all;
    int code = NC_NOERR;
    const auto* values = static_cast<void* const*>(calls->values);
    const auto of = [](auto* lists, int i) { return lists == nullptr ? nullptr : lists[i]; };
    for (int i = 0; i < num; ++i) {
      door_call call{};
      call.form = calls->form;
      call.start = of(calls->starts, i);
      call.count = of(calls->counts, i);
      call.stride = of(calls->strides, i);
      call.imap = of(calls->imaps, i);
      call.memory = calls->memory;
      call.values = values[i];
      call.bufcount = calls->bufcounts == nullptr ? 0 : calls->bufcounts[i];
      call.buftype = calls->buftypes == nullptr ? MPI_DATATYPE_NULL : calls->buftypes[i];
      Waited one{{-1, {}, -1}, -1};
      const int wrong = prepare(file, varids[i], call, puts, false, one.request.move);
      code = worse(code, wrong);
      if (!is_wrong(wrong)) all.push_back(std::move(one));
    }
    if (together)
      move_all(file, all);
    else
      move_each(file, all);
    for (Waited& one : all) {
      if (!puts && one.code == NC_NOERR) one.code = deliver(one.request.move);
      code = worse(code, one.code);
    }
    return code;
  });
}

int ncmpi_wait(int ncid, int count, int* ids, int* statuses) {
  return answer(ncid, [&](File& file) { return wait(file, count, ids, statuses, false); });
}
int ncmpi_wait_all(int ncid, int count, int* ids, int* statuses) {
  return answer(ncid, [&](File& file) { return wait(file, count, ids, statuses, true); });
}

int ncmpi_cancel(int ncid, int num, int* ids, int* statuses) {
  return answer(ncid, [&](File& file) {
    int code = NC_NOERR;
    if (num < NC_PUT_REQ_ALL || (num > 0 && ids == nullptr)) return NC_EINVAL;
    take(file, num, ids, statuses, code);
    for (int i = 0; i < num; ++i)
      ids[i] = NC_REQ_NULL;
    return code;
  });
}

int ncmpi_inq_nreqs(int ncid, int* nreqs) {
  return answer(ncid, [&](File& file) {
    if (nreqs != nullptr) *nreqs = static_cast<int>(file.requests.size());
    return NC_NOERR;
  });
}

int ncmpi_buffer_attach(int ncid, MPI_Offset bufsize) {
  return answer(ncid, [&](File& file) {
    if (bufsize <= 0) return NC_ENULLBUF;
    if (file.buffer >= 0) return NC_EPREVATTACHBUF;
    file.buffer = bufsize;
    return NC_NOERR;
  });
}

int ncmpi_buffer_detach(int ncid) {
  return answer(ncid, [](File& file) {
    if (file.buffer < 0) return NC_ENULLABUF;
    if (file.buffered > 0) return NC_EPENDINGBPUT;
    file.buffer = -1;
    return NC_NOERR;
  });
}

int ncmpi_inq_buffer_usage(int ncid, MPI_Offset* usage) {
  return answer(ncid, [&](File& file) {
    if (file.buffer < 0) return NC_ENULLABUF;
    if (usage != nullptr) *usage = file.buffered;
    return NC_NOERR;
  });
}

int ncmpi_inq_buffer_size(int ncid, MPI_Offset* size) {
  return answer(ncid, [&](File& file) {
    if (file.buffer < 0) return NC_ENULLABUF;
    if (size != nullptr) *size = file.buffer;
    return NC_NOERR;
  });
}

}  // namespace door::pnetcdf::serve
