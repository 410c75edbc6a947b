{-# LANGUAGE ScopedTypeVariables #-}
-- Laziness, exceptions, garbage collection, threads and transactions, calls of C and back.
module Main (main) where

import Control.Concurrent
import Control.Exception
import Control.Monad
import Data.IORef
import qualified Data.Map.Strict as Map
import Foreign.C.Types
import Foreign.Ptr
import Foreign.Marshal.Array
import System.Mem

foreign import ccall "math.h cos" c_cos :: CDouble -> CDouble
foreign import ccall "wrapper" order :: (Ptr CInt -> Ptr CInt -> IO CInt) -> IO (FunPtr (Ptr CInt -> Ptr CInt -> IO CInt))
foreign import ccall safe "stdlib.h qsort" c_qsort :: Ptr CInt -> CSize -> CSize -> FunPtr (Ptr CInt -> Ptr CInt -> IO CInt) -> IO ()

data Depth = Depth Int deriving Show
instance Exception Depth

descend :: Int -> IO Int
descend 0 = throwIO (Depth 0)
descend n = (do { m <- descend (n - 1); return $! m + 1 }) `catch` \(Depth d) -> throwIO (Depth (d + 1))

fib :: Int -> Integer
fib n = if n < 2 then toInteger n else fib (n - 1) + fib (n - 2)

sorted :: [CInt] -> IO [CInt]
sorted numbers = do
  compareThem <- order $ \a b -> do
    [x] <- peekArray 1 a
    [y] <- peekArray 1 b
    return (fromIntegral (fromEnum (compare x y)) - 1)
  result <- withArrayLen numbers $ \n p -> c_qsort p (fromIntegral n) 4 compareThem >> peekArray n p
  freeHaskellFunPtr compareThem
  return result

main :: IO ()
main = do
  let table = Map.fromList [(i, show i) | i <- [1 .. 20000 :: Int]]
  print (Map.foldl' (\s t -> s + length t) 0 table, fib 22)
  results <- forM [1 .. 8 :: Int] $ \n -> do
    result <- newEmptyMVar
    _ <- forkIO $ do
      depths <- forM [1 .. 50] $ \i -> (descend (i * n `mod` 90) >> return 0) `catch` \(Depth d) -> return d
      performMinorGC
      putMVar result (sum depths + length (show (fib (15 + n `mod` 3))))
    return result
  mapM takeMVar results >>= print
  counter <- newIORef (0 :: Int)
  forM_ [1 .. 100000 :: Int] $ \i -> modifyIORef' counter (+ i)
  readIORef counter >>= print
  performGC
  r <- try (evaluate (1 `div` (0 :: Int))) :: IO (Either ArithException Int)
  print r
  s <- try (evaluate (head [])) :: IO (Either SomeException Int)
  putStrLn (either (const "empty") show s)
  sorted [(i * 37) `mod` 101 | i <- [1 .. 100]] >>= print . take 10
  print (sum [c_cos (fromIntegral i) | i <- [1 .. 1000 :: Int]] > 0)
  print (foldr (\i s -> i + s) 0 [1 .. 200000 :: Integer])
