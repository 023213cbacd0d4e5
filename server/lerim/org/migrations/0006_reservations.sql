-- Takes a token from the bucket of a model and reserves the most that a call may cost, or says why not and until when.
-- One statement for the client, so that the team's row is locked only while the database itself works. Each statement
-- within sees what the reservation before it stored, which the parts of one WITH would not. It runs with the rights of
-- who calls it: row-level security holds.
CREATE FUNCTION reserve_call(
    for_team text, for_model text, for_key text, most_dollars numeric, -- NULL if the price is not known
    OUT call bigint, OUT refused text, OUT free_at timestamptz, OUT dollars_per_day double precision
) LANGUAGE plpgsql SECURITY INVOKER AS $$
DECLARE
    most numeric(24, 12) := coalesce(most_dollars, 0);
    budget budgets;
    spent numeric;
    second double precision; -- tokens that a second brings
    capacity double precision;
    bucket rates;
BEGIN
    INSERT INTO budgets (team) VALUES (for_team)
        ON CONFLICT (team) DO UPDATE SET team = excluded.team RETURNING * INTO budget; -- reservations take turns
    dollars_per_day := budget.dollars_per_day;
    IF dollars_per_day > 0 THEN
        IF most_dollars IS NULL OR most > budget.dollars_per_day THEN
            refused := CASE WHEN most_dollars IS NULL THEN 'unpriced' ELSE 'too dear' END;
            RETURN;
        END IF;
        SELECT coalesce(sum(dollars), 0) INTO spent FROM calls WHERE team = for_team AND day = current_date;
        IF spent + most > budget.dollars_per_day THEN
            refused := 'spent';
            free_at := current_date + 1;
            RETURN;
        END IF;
    END IF;
    second := budget.calls_per_minute / 60.0;
    capacity := greatest(1, second * 10); -- what ten seconds bring, and at least one
    INSERT INTO rates AS own (team, model, calls_left, counted_at)
        VALUES (for_team, for_model, capacity, clock_timestamp())
        ON CONFLICT (team, model) DO UPDATE SET counted_at = excluded.counted_at, calls_left = least(capacity,
            own.calls_left + greatest(0, extract(epoch FROM excluded.counted_at - own.counted_at)) * second)
        RETURNING * INTO bucket;
    IF bucket.paused_until > bucket.counted_at THEN
        refused := 'paused';
        free_at := bucket.paused_until;
        RETURN;
    END IF;
    IF second > 0 THEN
        IF bucket.calls_left < 1 THEN -- spread, so that not everybody comes at once for the next token
            refused := 'no token';
            free_at := bucket.counted_at
                + make_interval(secs => (1 - bucket.calls_left) / second * (1 + random()));
            RETURN;
        END IF;
        UPDATE rates SET calls_left = calls_left - 1 WHERE team = for_team AND model = for_model;
    END IF;
    INSERT INTO calls (team, model, key, dollars) VALUES (for_team, for_model, for_key, most) RETURNING id INTO call;
END;
$$;

-- The policies ask for these once or twice in each statement: in this language, their plans are kept by the connection.
CREATE OR REPLACE FUNCTION readable_teams() RETURNS text[] LANGUAGE plpgsql STABLE PARALLEL SAFE
    SET search_path = pg_catalog AS $$
BEGIN
    RETURN (SELECT coalesce(array_agg(substring(rolname FROM '^lerim_team_(.*)_reader$')), '{}') FROM pg_roles
        WHERE rolname LIKE 'lerim\_team\_%\_reader' AND pg_has_role(current_user, oid, 'USAGE'));
END;
$$;

CREATE OR REPLACE FUNCTION writable_teams() RETURNS text[] LANGUAGE plpgsql STABLE PARALLEL SAFE
    SET search_path = pg_catalog AS $$
BEGIN
    RETURN (SELECT coalesce(array_agg(substring(rolname FROM '^lerim_team_(.*)_worker$')), '{}') FROM pg_roles
        WHERE rolname LIKE 'lerim\_team\_%\_worker' AND pg_has_role(current_user, oid, 'USAGE'));
END;
$$;
