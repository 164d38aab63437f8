// q + lead (q - q_old): a velocity some steps ahead. Without a lead q_old is not used.

FN real ahead(In q, In q_old, Index c, real lead) { return q[c] + lead * (q[c] - taken(lead != 0, q_old[c])); }
