-- A deterministic workload in memory: inserts, indexes, joins, updates, sorts,
-- aggregates, window functions, triggers, text. The table `scale` (one row, one
-- column n) is put in front of this file by the workload script.

PRAGMA journal_mode = OFF;
PRAGMA threads = 0;

CREATE TABLE customer(id INTEGER PRIMARY KEY, name TEXT, city TEXT, credit REAL);
CREATE TABLE purchase(id INTEGER PRIMARY KEY, customer INTEGER, item TEXT, price INTEGER, day INTEGER);
CREATE TABLE audit(kind TEXT PRIMARY KEY, n INTEGER) WITHOUT ROWID;
INSERT INTO audit VALUES('update', 0), ('delete', 0);

BEGIN;
WITH RECURSIVE c(i, r) AS (
  SELECT 1, 42 UNION ALL SELECT i + 1, (r * 16807) % 2147483647 FROM c
  WHERE i < (SELECT n / 10 FROM scale))
INSERT INTO customer
  SELECT i, printf('%08x-%s', r, substr('alphabetagammadelta', r % 12 + 1, 6)),
         printf('city%03d', r % 211), (r % 100000) / 100.0 FROM c;
WITH RECURSIVE p(i, r) AS (
  SELECT 1, 4711 UNION ALL SELECT i + 1, (r * 16807) % 2147483647 FROM p
  WHERE i < (SELECT n FROM scale))
INSERT INTO purchase
  SELECT i, r % (SELECT n / 10 FROM scale) + 1, 'item' || (r % 977), r % 10007, i % 365 FROM p;
COMMIT;

CREATE INDEX purchase_customer ON purchase(customer);
CREATE INDEX purchase_item ON purchase(item, price);
CREATE INDEX customer_city ON customer(city);
CREATE TRIGGER purchase_updated AFTER UPDATE OF price ON purchase
  BEGIN UPDATE audit SET n = n + 1 WHERE kind = 'update'; END;
CREATE TRIGGER purchase_deleted AFTER DELETE ON purchase
  BEGIN UPDATE audit SET n = n + 1 WHERE kind = 'delete'; END;

SELECT 'rows', (SELECT count(*) FROM customer), (SELECT count(*) FROM purchase);

-- joins and aggregates
SELECT 'cities', city, count(*), sum(price), printf('%.3f', avg(credit))
  FROM customer JOIN purchase ON purchase.customer = customer.id
  GROUP BY city ORDER BY sum(price) DESC, city LIMIT 5;
SELECT 'pairs', count(*), sum(a.price * b.price % 101)
  FROM purchase a JOIN purchase b
  ON a.item = b.item AND b.price BETWEEN a.price - 40 AND a.price + 40 AND a.id < b.id;

-- sorts without an index
SELECT 'sorted', group_concat(id, ' ') FROM
  (SELECT id FROM purchase ORDER BY price % 997, item DESC, day LIMIT 12);
SELECT 'names', count(*), min(k), max(k) FROM
  (SELECT upper(substr(name, 3)) || length(name) AS k FROM customer ORDER BY k COLLATE NOCASE);

-- updates and deletes through triggers and indexes
BEGIN;
UPDATE purchase SET price = price + 7 WHERE id % 9 = 0;
UPDATE purchase SET item = item || 'x' WHERE day BETWEEN 100 AND 110;
DELETE FROM purchase WHERE id % 31 = 0;
UPDATE customer SET credit = credit + (SELECT total(price) / 1000 FROM purchase WHERE customer = customer.id)
  WHERE id % 3 = 0;
COMMIT;
SELECT 'audit', kind, n FROM audit;
SELECT 'credit', printf('%.3f', sum(credit)) FROM customer;

-- windows, subqueries, set operations
SELECT 'window', sum(rank * price % 1009), max(running) FROM (
  SELECT price, rank() OVER (PARTITION BY day ORDER BY price, id) AS rank,
         sum(price) OVER (PARTITION BY day ORDER BY id) AS running FROM purchase);
SELECT 'quiet', count(*) FROM customer
  WHERE NOT EXISTS (SELECT 1 FROM purchase WHERE customer = customer.id AND price > 9000);
SELECT 'sets', count(*) FROM (
  SELECT item FROM purchase WHERE day < 50 INTERSECT SELECT item FROM purchase WHERE day > 300
  UNION SELECT 'item' || id FROM customer WHERE id < 500 EXCEPT SELECT 'item7');

-- text
SELECT 'like', sum(name LIKE '%a%b%'), sum(name GLOB '*[0-3]a*'), sum(instr(name, 'gam') > 0) FROM customer;
SELECT 'json', sum(json_extract(json_object('p', price, 'd', json_array(day, id)), '$.d[0]'))
  FROM purchase WHERE id % 4 = 0;

-- point queries and a nested recursion
WITH RECURSIVE probe(i, k) AS (
  SELECT 1, 1 UNION ALL
  SELECT i + 1, (k * 7919 + 13) % (SELECT n FROM scale) + 1 FROM probe WHERE i < (SELECT n / 2 FROM scale))
SELECT 'probe', count(price), sum(price) FROM probe LEFT JOIN purchase ON purchase.id = probe.k;
WITH RECURSIVE queens(row, board) AS (
  SELECT 0, '' UNION ALL
  SELECT row + 1, board || col.value FROM queens, json_each('[1,2,3,4,5,6]') AS col
  WHERE row < 6 AND NOT EXISTS (
    SELECT 1 FROM json_each('[0,1,2,3,4,5]') AS r WHERE r.value < row AND (
      substr(board, r.value + 1, 1) = CAST(col.value AS TEXT)
      OR abs(CAST(substr(board, r.value + 1, 1) AS INTEGER) - col.value) = row - r.value)))
SELECT 'queens', count(*), min(board), max(board) FROM queens WHERE row = 6;

DROP INDEX purchase_item;
DELETE FROM purchase WHERE day > 180;
SELECT 'left', count(*), sum(price) FROM purchase;
PRAGMA integrity_check;
